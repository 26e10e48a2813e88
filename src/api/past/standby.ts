import { inTime, systemScheduler } from '../../gate/meter/scheduler.ts';
import { hostUrls } from '../../ledger/engine/postgres/hosts/host-urls.ts';
import { Ledger } from '../../ledger/ledger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Refusal } from '../errors/errors.ts';
import { readQuery } from '../model/query.ts';
import { readAsOf, SETTLED_AFTER_MS } from '../params/as-of.ts';
import { LedgerReader } from './ledger-reader.ts';
import type { LedgerRequest, LedgerResponse } from './protocol.ts';

/** A standby that hangs must not hold up a request for longer than this before the primary is asked. */
const ANSWER_MS_MAX = 2_000;
/** After a failure the standby is left alone for this long. */
const PAUSE_MS = 5_000;

/**
 * Reads from a standby of the primary where that gives the same response. It replays what the primary has written, later:
 *
 *     request ─► reachable? ─► same ledger, same timeline? ─► has it all that the response must show? ─► read
 *                   │ no            │ no                          │ no                                     │ failed
 *                   └───────────────┴──────── the primary reads ──┴────────────────────────────────────────┘
 */
export class Standby {
  readonly #urls: readonly string[];
  readonly #clock: Clock;
  readonly #simulated: boolean;
  #opened: { ledger: Ledger; reader: LedgerReader } | undefined;
  /** The next host to be tried. */
  #next = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(url: string, clock: Clock, simulated: boolean) {
    this.#urls = hostUrls(url);
    this.#clock = clock;
    this.#simulated = simulated;
  }

  /** Undefined when the primary has to read. */
  async respond(request: LedgerRequest): Promise<LedgerResponse | undefined> {
    if (performance.now() < this.#pausedUntil) return undefined;
    try {
      this.#opened ??= await this.#openInTime();
      const { ledger, reader } = this.#opened;
      if (!(await inTime(systemScheduler, ANSWER_MS_MAX, hasAll(ledger, request)))) return undefined;
      return { ...(await reader.respond(request)), isFromStandby: true };
    } catch (error) {
      // A refusal may come of something that was not replayed yet: the primary has the last word.
      if (!(error instanceof Refusal)) this.#leave();
      return undefined;
    }
  }

  async close(): Promise<void> {
    await this.#opened?.ledger.close();
  }

  async #openInTime(): Promise<{ ledger: Ledger; reader: LedgerReader }> {
    const opening = this.#open();
    try {
      return await inTime(systemScheduler, ANSWER_MS_MAX, opening);
    } catch (error) {
      void opening.then(({ ledger }) => ledger.close()).catch(() => {}); // it came too late
      throw error;
    }
  }

  async #open(): Promise<{ ledger: Ledger; reader: LedgerReader }> {
    const url = this.#urls[this.#next++ % this.#urls.length]!;
    const ledger = await Ledger.openForReading(url, this.#clock);
    try {
      return { ledger, reader: await LedgerReader.open(ledger, this.#clock, this.#simulated) };
    } catch (error) {
      void ledger.close().catch(() => {});
      throw error;
    }
  }

  #leave(): void {
    void this.#opened?.ledger.close().catch(() => {});
    this.#opened = undefined;
    // Another host is tried at once, all of them again after a pause.
    if (this.#next % this.#urls.length === 0) this.#pausedUntil = performance.now() + PAUSE_MS;
  }
}

/** Whether a server has everything that the response must show. It never goes back, so that holds while it is read. */
async function hasAll(ledger: Ledger, { query, now, known, since = 0 }: LedgerRequest): Promise<boolean> {
  const asOf = readAsOf(new Map(readQuery(query)), now)?.moment;
  const replayedAt = await ledger.engine.replayedAt();
  const { epoch, prices } = await ledger.head();
  if (epoch !== known.epoch || prices < known.catalogRevision) return false;
  // What bears a time of an hour ago has been written since; an import records everything with the time of its start.
  if (asOf !== undefined && asOf + SETTLED_AFTER_MS <= replayedAt) return true;
  return prices >= Math.max(known.revision, since) && (asOf === undefined || asOf <= replayedAt);
}
