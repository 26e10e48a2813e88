import type { Board } from '../../board/board.ts';
import type { View } from '../../board/view.ts';
import type { Clock } from '../../clock.ts';
import type { Gate } from '../../gate/gate.ts';
import { type Log, messageOf } from '../../log.ts';
import { refuse } from '../errors.ts';
import { Channel } from './channel.ts';
import { Connection, type ConnectionOptions, planChanged } from './connection.ts';

export interface HubOptions {
  board: Board;
  gate: Gate;
  clock: Clock;
  log: Log;
}

/** How often connections are looked after. A revoked key is to be refused within a second. */
const LOOK_MS = 500;

const MONOTONIC: Clock = { now: () => performance.now() };

/** A client needs a few; a leak in one program must not take all connections of the process. */
const PER_ACCOUNT_MAX = 100;

/**
 * All streams of this process. It does nothing until the board says that a view has changed; then each symbol that
 * somebody listens to is looked at once for each plan delay, however many listen.
 */
export class StreamHub {
  readonly #options: HubOptions;
  readonly #instance = crypto.randomUUID().slice(0, 8);
  readonly #channels = new Map<View, Channel>();
  readonly #perAccount = new Map<string, number>();
  #looking: ReturnType<typeof setInterval> | undefined;
  #turning: Promise<void> | undefined;
  #changedMeanwhile = false;
  #isDraining = false;

  constructor(options: HubOptions) {
    this.#options = options;
    options.board.onChange(() => this.#changed());
  }

  get size(): number {
    let size = 0;
    for (const { connections } of this.#channels.values()) size += connections.size;
    return size;
  }

  channel(view: View): Channel {
    const { board } = this.#options;
    return this.#channels.getOrInsertComputed(view, () => new Channel(view, board, this.#instance));
  }

  /** Refuses a stream that may not be opened; before it is counted. */
  requireRoom(accountId: string): void {
    if (this.#isDraining) throw refuse('unavailable', { why: 'it is stopping' }, 1);
    if ((this.#perAccount.get(accountId) ?? 0) < PER_ACCOUNT_MAX) return;
    throw refuse('rate_limited', { limit: `an account may have ${PER_ACCOUNT_MAX} streams open` }, 60);
  }

  open(options: Omit<ConnectionOptions, 'onClose' | 'monotonic'>): ReadableStream<Uint8Array> {
    const { channel, account } = options;
    const connection = new Connection({
      ...options,
      monotonic: MONOTONIC,
      onClose: (one) => this.#closed(one),
    });
    channel.connections.add(connection);
    this.#perAccount.set(account.id, (this.#perAccount.get(account.id) ?? 0) + 1);
    this.#looking ??= setInterval(() => void this.#look(), LOOK_MS);
    return connection.body;
  }

  /** Ends every stream, so that the process can stop. */
  drain(): void {
    this.#isDraining = true;
    const refusal = refuse('unavailable', { why: 'it is stopping' });
    for (const connection of this.#all()) connection.end(refusal);
  }

  #all(): Connection[] {
    return [...this.#channels.values()].flatMap(({ connections }) => [...connections]);
  }

  #closed(connection: Connection): void {
    const { channel, account } = connection.options;
    if (!channel.connections.delete(connection)) return;
    const left = this.#perAccount.get(account.id)! - 1;
    if (left > 0) this.#perAccount.set(account.id, left);
    else this.#perAccount.delete(account.id);
    if (this.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  /** One turn at a time; what changes meanwhile is for the next. */
  #changed(): void {
    this.#changedMeanwhile = true;
    if (this.size > 0) this.#turning ??= this.#turn();
  }

  async #turn(): Promise<void> {
    const { clock, log } = this.#options;
    await Promise.resolve(); // the board finishes first
    while (this.#changedMeanwhile) {
      this.#changedMeanwhile = false;
      for (const channel of this.#channels.values()) {
        if (channel.connections.size === 0) continue;
        await channel.turn(clock.now()).catch((error) => {
          log.warn('streams could not be told', { message: messageOf(error) });
        });
      }
    }
    this.#turning = undefined;
  }

  async #look(): Promise<void> {
    for (const connection of this.#all()) {
      connection.beat();
      await this.#judge(connection).catch(() => {}); // the ledger is away: the next look tries again
    }
  }

  /** Ends a stream whose key or plan no longer holds. A key that is in memory costs no more than a look. */
  async #judge(connection: Connection): Promise<void> {
    const { gate } = this.#options;
    const { key, channel } = connection.options;
    const reason = await gate.endOf(key);
    if (reason) return connection.end(refuse(reason, {}));
    const delayMs = (gate.directory.cached(key)?.customer.plan.delaySeconds ?? 0) * 1000;
    if (delayMs !== channel.view.delayMs) connection.end(planChanged());
  }
}
