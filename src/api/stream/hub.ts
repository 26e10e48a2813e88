import type { Board } from '../../board/board.ts';
import type { View } from '../../board/views/view.ts';
import type { Gate } from '../../gate/gate.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Log, messageOf } from '../../runtime/log/log.ts';
import { type Refusal, refuse } from '../errors/errors.ts';
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

/** A client needs a few; a leak in one program must not take all connections of the process. */
const PER_ACCOUNT_MAX = 100;

/** One of the streams that an account may have. */
export interface StreamPlace {
  /** Gives it back, once. */
  release(): void;
}

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

  /** Takes one of the account's streams before it is charged: the ledger may be asked in between, and others come meanwhile. */
  reserve(accountId: string): StreamPlace {
    this.requireRoom(accountId);
    this.#perAccount.set(accountId, (this.#perAccount.get(accountId) ?? 0) + 1);
    let isTaken = true;
    return {
      release: () => {
        if (!isTaken) return;
        isTaken = false;
        const left = this.#perAccount.get(accountId)! - 1;
        if (left > 0) this.#perAccount.set(accountId, left);
        else this.#perAccount.delete(accountId);
      },
    };
  }

  /** Refuses a stream that may not be opened. */
  requireRoom(accountId: string): void {
    if (this.#isDraining) throw stopping();
    if ((this.#perAccount.get(accountId) ?? 0) < PER_ACCOUNT_MAX) return;
    throw refuse('rate_limited', { limit: `an account may have ${PER_ACCOUNT_MAX} streams open` }, 60);
  }

  /** Opens a stream in a place that was reserved for it; when it closes, the place is free again. */
  open(
    place: StreamPlace,
    options: Omit<ConnectionOptions, 'onClose' | 'monotonic'>,
  ): ReadableStream<Uint8Array> {
    const { clock } = this.#options;
    const connection = new Connection({
      ...options,
      monotonic: { now: () => clock.elapsed?.() ?? clock.now() },
      onClose: (one) => {
        place.release();
        this.#closed(one);
      },
    });
    if (!connection.isOpen) return connection.body; // the quota ended with its first events
    options.channel.connections.add(connection);
    this.#looking ??= setInterval(() => void this.#look(), LOOK_MS);
    if (this.#isDraining) connection.end(stopping());
    return connection.body;
  }

  /** Ends every stream, so that the process can stop. */
  drain(): void {
    this.#isDraining = true;
    for (const connection of this.#all()) connection.end(stopping());
  }

  #all(): Connection[] {
    return [...this.#channels.values()].flatMap(({ connections }) => [...connections]);
  }

  #closed(connection: Connection): void {
    connection.options.channel.connections.delete(connection);
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

function stopping(): Refusal {
  return refuse('unavailable', { why: 'it is stopping' }, 1);
}
