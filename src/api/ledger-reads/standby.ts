import { hostUrls } from '../../ledger/engine/postgres/hosts/host-urls.ts';
import { Ledger } from '../../ledger/ledger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { systemScheduler, withTimeout } from '../../runtime/scheduler.ts';
import { Refusal } from '../errors/errors.ts';
import { readQuery } from '../model/query.ts';
import { readAsOf, SETTLED_AFTER_MS } from '../params/as-of.ts';
import { LedgerReader } from './ledger-reader.ts';
import type { LedgerRequest, LedgerResponse } from './protocol.ts';

/** How long a request waits for a standby before it falls back to the primary. */
const RESPONSE_MS_MAX = 2_000;
/** How long to avoid the standbys once all of them have failed. */
const PAUSE_MS = 5_000;

/**
 * Reads from a standby where that gives the same response as the primary. A standby replays the primary's writes with a lag:
 *
 *     request ─► reachable? ─► same ledger, same timeline? ─► replayed everything the response must show? ─► read
 *                   │ no            │ no                          │ no                                         │ failed
 *                   └───────────────┴──────── the primary reads ──┴────────────────────────────────────────────┘
 */
export class Standby {
  readonly #urls: readonly string[];
  readonly #clock: Clock;
  readonly #simulated: boolean;
  #opened: { ledger: Ledger; reader: LedgerReader } | undefined;
  /** Index of the next host to try. */
  #next = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(url: string, clock: Clock, simulated: boolean) {
    this.#urls = hostUrls(url);
    this.#clock = clock;
    this.#simulated = simulated;
  }

  /** Undefined if the primary must be used. */
  async respond(request: LedgerRequest): Promise<LedgerResponse | undefined> {
    if (performance.now() < this.#pausedUntil) return undefined;
    try {
      this.#opened ??= await this.#openInTime();
      const { ledger, reader } = this.#opened;
      if (!(await withTimeout(systemScheduler, RESPONSE_MS_MAX, isCurrentFor(ledger, request))))
        return undefined;
      return { ...(await reader.respond(request)), isFromStandby: true };
    } catch (error) {
      // A refusal may be due to data not replayed yet, so the primary decides.
      if (!(error instanceof Refusal)) this.#disconnect();
      return undefined;
    }
  }

  async close(): Promise<void> {
    await this.#opened?.ledger.close();
  }

  async #openInTime(): Promise<{ ledger: Ledger; reader: LedgerReader }> {
    const opening = this.#open();
    try {
      return await withTimeout(systemScheduler, RESPONSE_MS_MAX, opening);
    } catch (error) {
      void opening.then(({ ledger }) => ledger.close()).catch(() => {}); // close it if it opens after the timeout
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

  #disconnect(): void {
    void this.#opened?.ledger.close().catch(() => {});
    this.#opened = undefined;
    // Try the next host at once; pause after the last one.
    if (this.#next % this.#urls.length === 0) this.#pausedUntil = performance.now() + PAUSE_MS;
  }
}

/** Whether a server has replayed everything the response must show. Servers never go back, so this stays true during the read. */
async function isCurrentFor(
  ledger: Ledger,
  { query, now, known, since = 0 }: LedgerRequest,
): Promise<boolean> {
  const asOf = readAsOf(readQuery(query), now)?.moment;
  const replayedAt = await ledger.engine.replayedAt();
  const { epoch, prices } = await ledger.head();
  if (epoch !== known.epoch || prices < known.catalogRevision) return false;
  // An import stamps all its records with its start time, so records for a moment are complete only an hour later.
  if (asOf !== undefined && asOf + SETTLED_AFTER_MS <= replayedAt) return true;
  return prices >= Math.max(known.revision, since) && (asOf === undefined || asOf <= replayedAt);
}
