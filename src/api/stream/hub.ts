import type { Board } from '../../board/board.ts';
import type { View } from '../../board/views/view.ts';
import type { Gate } from '../../gate/gate.ts';
import { type Clock, elapsedMs } from '../../runtime/clock.ts';
import { type Log, messageOf } from '../../runtime/log/log.ts';
import { type Refusal, refuse } from '../errors/errors.ts';
import { admissionRefusal } from '../errors/from-gate.ts';
import { Channel } from './channel.ts';
import { StreamConnection, type StreamConnectionOptions } from './connection.ts';

export interface HubOptions {
  board: Board;
  gate: Pick<Gate, 'recheck'>;
  clock: Clock;
  log: Log;
}

/** How often connections are checked. A revoked key must stop working within a second. */
const CHECK_MS = 500;

/** Clients need a few streams; a leak in one program must not use up all connections of the process. */
export const STREAMS_PER_ACCOUNT_MAX = 100;

/** A reservation of one of an account's streams. */
export interface StreamSlot {
  /** Idempotent. */
  release(): void;
}

export interface StreamOptions extends Omit<StreamConnectionOptions, 'onClose' | 'monotonic' | 'eventId'> {
  channel: Channel;
}

/**
 * All streams of this process. It is idle until the board reports a change; then it checks each symbol with subscribers
 * once per plan delay, regardless of how many clients are subscribed.
 */
export class StreamHub {
  readonly #options: HubOptions;
  readonly #instance = crypto.randomUUID().slice(0, 8);
  readonly #channels = new Map<View, Channel>();
  readonly #perAccount = new Map<string, number>();
  #checking: ReturnType<typeof setInterval> | undefined;
  readonly #beingChecked = new Set<StreamConnection>();
  #publishing: Promise<void> | undefined;
  #hasChanges = false;
  /** The channels whose changes could not be published, because the ledger failed. The next check tries again. */
  readonly #failing = new Set<Channel>();
  #isDraining = false;

  constructor(options: HubOptions) {
    this.#options = options;
    options.board.onChange(() => this.#onChange());
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

  /** Reserves a stream before it is charged: charging may wait for the ledger while other requests arrive. */
  reserve(accountId: string): StreamSlot {
    this.requireRoom(accountId);
    this.#perAccount.set(accountId, (this.#perAccount.get(accountId) ?? 0) + 1);
    let isReleased = false;
    return {
      release: () => {
        if (isReleased) return;
        isReleased = true;
        const left = this.#perAccount.get(accountId)! - 1;
        if (left > 0) this.#perAccount.set(accountId, left);
        else this.#perAccount.delete(accountId);
      },
    };
  }

  /** Throws a refusal if the account may not open another stream. */
  requireRoom(accountId: string): void {
    if (this.#isDraining) throw refuse('unavailable', { why: 'it is stopping' }, 1);
    if ((this.#perAccount.get(accountId) ?? 0) < STREAMS_PER_ACCOUNT_MAX) return;
    throw refuse(
      'rate_limited',
      { limit: `an account may have ${STREAMS_PER_ACCOUNT_MAX} streams open` },
      60,
    );
  }

  /** Opens a stream. It releases its slot when it closes. */
  open(slot: StreamSlot, { channel, ...options }: StreamOptions): ReadableStream<Uint8Array> {
    const { clock } = this.#options;
    const connection = new StreamConnection({
      ...options,
      eventId: channel.eventIds(options.topics),
      monotonic: { now: () => elapsedMs(clock) },
      onClose: (closed) => {
        slot.release();
        channel.connections.delete(closed);
        if (this.size === 0) this.#stopChecking();
      },
    });
    if (!connection.isOpen) return connection.body; // the first events exhausted the quota
    channel.connections.add(connection);
    this.#checking ??= setInterval(() => this.#checkAll(), CHECK_MS);
    if (this.#isDraining) connection.end(streamEnd(STOPPING));
    return connection.body;
  }

  /** Ends every stream, so that the process can stop. */
  drain(): void {
    this.#isDraining = true;
    for (const [connection] of this.#connections()) connection.end(streamEnd(STOPPING));
  }

  #connections(): [StreamConnection, Channel][] {
    return [...this.#channels.values()].flatMap((channel) =>
      [...channel.connections].map((connection): [StreamConnection, Channel] => [connection, channel]),
    );
  }

  /** Changes that arrive while publishing are handled by the running loop. */
  #onChange(): void {
    this.#hasChanges = true;
    if (this.size > 0) this.#publishing ??= this.#publishChanges();
  }

  async #publishChanges(): Promise<void> {
    await Promise.resolve(); // lets the board finish its update
    while (this.#hasChanges) {
      this.#hasChanges = false;
      for (const channel of this.#channels.values()) {
        for (const connection of channel.outdated()) connection.end(streamEnd(REDEFINED));
        if (channel.connections.size > 0) void this.#publish(channel);
        else this.#failing.delete(channel);
      }
    }
    this.#publishing = undefined;
  }

  async #publish(channel: Channel): Promise<void> {
    const { clock, log } = this.#options;
    try {
      const outcome = await channel.publish(clock.now());
      if (outcome === 'loading') return;
      this.#failing.delete(channel);
      if (outcome === 'loaded') this.#onChange();
    } catch (error) {
      if (this.#failing.has(channel)) return;
      this.#failing.add(channel);
      log.warn('publishing to streams failed', { message: messageOf(error) });
    }
  }

  /** Concurrently: a check may wait for the ledger, and must not delay the heartbeats and checks of other streams. */
  #checkAll(): void {
    if (this.#failing.size > 0) this.#onChange();
    for (const [connection, channel] of this.#connections()) {
      connection.heartbeat();
      if (this.#beingChecked.has(connection)) continue;
      this.#beingChecked.add(connection);
      void this.#check(connection, channel)
        .catch(() => {}) // the ledger is unreachable; the next check retries
        .finally(() => this.#beingChecked.delete(connection));
    }
  }

  /** Ends a stream whose key is no longer admitted or whose plan has another delay now. Cheap while the key is cached. */
  async #check(connection: StreamConnection, { view }: Channel): Promise<void> {
    const admission = await this.#options.gate.recheck(connection.presented);
    if (!admission.ok) return connection.end(admissionRefusal(admission));
    const { delaySeconds } = admission.customer.plan;
    if (delaySeconds * 1000 !== view.delayMs) connection.end(streamEnd(DELAY_CHANGED));
  }

  #stopChecking(): void {
    clearInterval(this.#checking);
    this.#checking = undefined;
  }
}

const STOPPING = 'the service is stopping';
const REDEFINED = 'a symbol or formula in it was redefined or deleted';
const DELAY_CHANGED = "the delay of the account's plan has changed";

/** Why an open stream ends although its client may open another one. */
export function streamEnd(why: string): Refusal {
  return refuse('unavailable', { streamEnds: why });
}
