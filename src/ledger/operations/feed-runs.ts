import type { Engine } from '../engine/engine.ts';
import {
  asFlag,
  asJson,
  asNumber,
  asText,
  nullable,
  onlyRow,
  optional,
  rowReader,
  type Sql,
} from '../engine/rows.ts';
import { insertRows } from '../engine/statements.ts';
import { type FilledSymbols, writeFilled } from './filled-symbols.ts';
import { type RunRequest, takeRequest } from './run-requests.ts';

/**
 * The state or result of a run. `unchanged`: the provider reported nothing new. `partial`: some series failed and the rest
 * was stored. `quarantined`: the data looks wrong, and no price was changed.
 */
export type RunStatus = 'running' | 'ok' | 'unchanged' | 'partial' | 'failed' | 'quarantined';

/** A series that could not be read while others of its feed could. */
export interface SeriesFailure {
  series: string;
  reason: string;
}

/** A series that has failed in every run since a time. */
export interface FailingSeries extends SeriesFailure {
  /** When the first of these runs ended, in ms. */
  since: number;
  /** When its prices count as stale, in ms: when the feed would have been late without a successful run since. */
  lateAt: number | undefined;
}

/** A failing series and the symbol that it fills. */
export interface FailingSymbol extends FailingSeries {
  symbol: string;
}

export interface RefusedValue {
  where: string;
  reason: string;
}

/**
 * A remark about a run, besides refused values. `held`: waits in quarantine. `withdrawn`: the provider no longer has it.
 * `odd`: stored, but looks wrong. `ignored`: left out on purpose. `elsewhere`: another feed provides it. `failed`: a
 * series that could not be read.
 */
export interface Note extends RefusedValue {
  kind: 'held' | 'withdrawn' | 'odd' | 'ignored' | 'elsewhere' | 'failed';
}

/** What a run did. */
export interface RunReport {
  status: RunStatus;
  message: string | undefined;
  /** SHA-256 of all response bodies, concatenated. */
  bodyHash: string | undefined;
  bytes: number;
  requests: number;
  taken: number;
  corrected: number;
  unchanged: number;
  missing: number;
  refused: number;
  /** The first refused values, and why they were refused. */
  reasons: RefusedValue[];
  /** Bars that were stored although their open or close is outside of low and high. */
  odd: number;
  /** Left out on purpose, such as a bar whose day has not ended. */
  ignored: number;
  /** Suspicious bars that wait in quarantine. */
  held: number;
  /** Days that the provider no longer has. */
  withdrawn: number;
  /** The first remarks. */
  notes: Note[];
}

/** What metrics count of a finished run. */
export type EndedRun = { feed: string } & Pick<
  RunReport,
  'status' | 'taken' | 'corrected' | 'unchanged' | 'held' | 'refused'
>;

export interface FeedRun extends RunReport {
  feed: string;
  number: number;
  started: number;
  ended: number | undefined;
}

export interface LeaseRequest {
  feed: string;
  holder: string;
  leaseMs: number;
  started: number;
  /** Only if the feed is enabled and due at this time. */
  dueAt?: number;
  /** Only if an operator's request waits, which the run takes. */
  requested?: RunRequest;
}

/** The exclusive right to run a feed. It expires unless it is renewed; `number` is the run's and is never reused. */
export interface FeedLease {
  feed: string;
  number: number;
  holder: string;
  leaseMs: number;
  /** Consecutive failed runs before this one. */
  failures: number;
  /** When a run over the full history last succeeded. */
  lastFull: number | undefined;
  /** Series that were failing before this run. */
  failing: readonly FailingSeries[];
}

/** A response body that was stored before. */
export interface KnownBody {
  urlHash: string;
  etag: string | undefined;
  lastModified: string | undefined;
  observations: number;
}

/** What a feed has in the ledger: days with a price, and gaps between the first and the last. */
export interface Coverage {
  days: number;
  gaps: number;
  firstDay: number | undefined;
  lastDay: number | undefined;
}

export interface FinishedRun {
  ended: number;
  report: RunReport;
  nextRun: number;
  /** When the feed counts as late; only for a successful run. */
  lateAt?: number;
  /** Whether the full history was requested. */
  isFull?: boolean;
  bodies?: readonly KnownBody[];
  coverage?: Coverage;
  /** The series that failed while others succeeded. */
  failing?: readonly SeriesFailure[];
  filled?: FilledSymbols;
}

/** The state of a feed that its runs depend on. */
interface FeedRow {
  enabled: boolean;
  holder: string | null;
  leaseUntil: number;
  nextRun: number | undefined;
  lastRun: number;
  lastFull: number | undefined;
  failures: number;
  failing: readonly FailingSeries[];
}

const FEED = rowReader<FeedRow>({
  enabled: asFlag,
  holder: nullable(asText),
  leaseUntil: asNumber,
  nextRun: optional(asNumber),
  lastRun: asNumber,
  lastFull: optional(asNumber),
  failures: asNumber,
  failing: asJson<FailingSeries[]>(),
});

/** Another runner holds the feed's lease now. The transaction must roll back. */
export class LeaseLost extends Error {}

/** Almost three years of daily runs. */
const RUNS_KEPT = 1_000;
/** A body that no run has requested for this long is deleted: some URLs contain a date. */
const BODY_RUNS_KEPT = 50;

/** Takes the lease and starts a run. Returns undefined when another runner holds it or a condition fails. */
export async function takeLease(
  engine: Engine,
  tx: Sql,
  request: LeaseRequest,
): Promise<FeedLease | undefined> {
  const { feed, holder, leaseMs, started, dueAt, requested } = request;
  const row = await lockFeed(engine, tx, feed);
  const now = await engine.now(tx);
  if (row.holder !== null && row.leaseUntil > now) return undefined;
  if (dueAt !== undefined && !(row.enabled && (row.nextRun ?? 0) <= dueAt)) {
    return undefined;
  }
  if (requested && !(await takeRequest(tx, feed, requested))) return undefined;
  const number = row.lastRun + 1;
  await tx`UPDATE feed_run SET status = 'failed', ended = ${started}, message = ${CUT_SHORT}
    WHERE feed = ${feed} AND status = 'running'`;
  await tx`UPDATE feed SET holder = ${holder}, lease_until = ${now + leaseMs}, last_run = ${number} WHERE key = ${feed}`;
  await tx`INSERT INTO feed_run (feed, number, started, status, bytes, requests, taken, corrected, unchanged, missing,
      refused, reasons) VALUES (${feed}, ${number}, ${started}, 'running', 0, 0, 0, 0, 0, 0, 0, '[]')`;
  await tx`DELETE FROM feed_run WHERE feed = ${feed} AND number <= ${number - RUNS_KEPT}`;
  return {
    feed,
    number,
    holder,
    leaseMs,
    failures: row.failures,
    lastFull: row.lastFull,
    failing: row.failing,
  };
}

export const CUT_SHORT = 'the runner ended in the middle; the run after it completes what it began';

/** Renews the lease; throws when another runner has it. The row stays locked until the transaction ends. */
export async function renewLease(engine: Engine, tx: Sql, lease: FeedLease): Promise<void> {
  const until = (await engine.now(tx)) + lease.leaseMs;
  const held = await tx`UPDATE feed SET lease_until = ${until}
    WHERE key = ${lease.feed} AND holder = ${lease.holder} AND last_run = ${lease.number} RETURNING key`;
  if (held.length === 0) throw new LeaseLost(`another runner has taken over the feed ${lease.feed}`);
}

/** Records the end of a run, its response bodies, and when the next run is due. */
export async function finishRun(
  engine: Engine,
  tx: Sql,
  lease: FeedLease,
  finish: FinishedRun,
): Promise<void> {
  await renewLease(engine, tx, lease);
  const { feed, number } = lease;
  const { report, ended, nextRun, lateAt, isFull, bodies = [], coverage, failing = [] } = finish;
  await tx`UPDATE feed_run SET ended = ${ended}, status = ${report.status}, message = ${report.message ?? null},
      body_hash = ${report.bodyHash ?? null}, bytes = ${report.bytes}, requests = ${report.requests},
      taken = ${report.taken}, corrected = ${report.corrected}, unchanged = ${report.unchanged},
      missing = ${report.missing}, refused = ${report.refused}, reasons = ${JSON.stringify(report.reasons)},
      odd = ${report.odd}, ignored = ${report.ignored}, held = ${report.held},
      withdrawn = ${report.withdrawn}, notes = ${JSON.stringify(report.notes)}
    WHERE feed = ${feed} AND number = ${number}`;
  await tx`UPDATE feed SET holder = NULL, lease_until = 0, next_run = ${nextRun}, failures = failures + 1
    WHERE key = ${feed}`;
  if (lateAt === undefined) return;
  const before = onlyRow(await tx`SELECT late_at FROM feed WHERE key = ${feed}`);
  const still = JSON.stringify(
    stillFailing(failing, lease.failing, ended, optional(asNumber)(before.late_at)),
  );
  await tx`UPDATE feed SET failures = 0, last_ok = ${ended}, late_at = ${lateAt}, failing = ${still}
    WHERE key = ${feed}`;
  if (finish.filled) await writeFilled(tx, feed, finish.filled);
  if (isFull) await tx`UPDATE feed SET last_full = ${ended} WHERE key = ${feed}`;
  if (coverage) {
    await tx`UPDATE feed SET days = ${coverage.days}, gaps = ${coverage.gaps},
      first_day = ${coverage.firstDay ?? null}, last_day = ${coverage.lastDay ?? null} WHERE key = ${feed}`;
  }
  await insertRows(
    engine,
    tx,
    'feed_body (feed, url_hash, etag, last_modified, observations, run_number)',
    bodies.map((body) => [
      feed,
      body.urlHash,
      body.etag ?? null,
      body.lastModified ?? null,
      body.observations,
      number,
    ]),
    `ON CONFLICT (feed, url_hash) DO UPDATE SET etag = excluded.etag, last_modified = excluded.last_modified,
       observations = excluded.observations, run_number = excluded.run_number`,
  );
  await tx`DELETE FROM feed_body WHERE feed = ${feed} AND run_number <= ${number - BODY_RUNS_KEPT}`;
}

/** A series that was failing before keeps its times; a new one is late when the feed would have been. */
function stillFailing(
  failing: readonly SeriesFailure[],
  known: readonly FailingSeries[],
  since: number,
  lateAt: number | undefined,
): FailingSeries[] {
  return failing.map(({ series, reason }) => {
    const before = known.find((one) => one.series === series) ?? { since, lateAt };
    return { series, reason, since: before.since, lateAt: before.lateAt };
  });
}

/** Locks the row of a feed until the transaction ends, and creates it if it is missing. */
export async function lockFeed({ placeholder: p }: Engine, tx: Sql, feed: string): Promise<FeedRow> {
  await tx`INSERT INTO feed (key, enabled, last_run, failures, days, gaps, lease_until)
    VALUES (${feed}, 0, 0, 0, 0, 0, 0) ON CONFLICT (key) DO NOTHING`;
  const lock = `UPDATE feed SET enabled = enabled WHERE key = ${p(1)} RETURNING ${FEED.columns}`;
  return FEED.read(onlyRow(await tx.unsafe(lock, [feed])));
}
