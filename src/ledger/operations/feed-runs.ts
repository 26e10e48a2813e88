import type { Engine } from '../engine/engine.ts';
import { asNumber, asNumberIfAny, asText, onlyRow, type Row, type Sql } from '../engine/rows.ts';
import { insertRows } from '../engine/statements.ts';

/**
 * How a run stands or ended. `unchanged`: the provider said that it has nothing new. `partial`: some series failed, and
 * the rest was taken in. `quarantined`: what came looks wrong, and no price was changed.
 */
export type RunStatus = 'running' | 'ok' | 'unchanged' | 'partial' | 'failed' | 'quarantined';

/** A series that could not be read while others of its feed could. */
export interface SeriesFailure {
  series: string;
  reason: string;
}

/** A series that has failed in every run since a moment. */
export interface FailingSeries extends SeriesFailure {
  /** When the first of these runs ended, in ms. */
  since: number;
  /** When its prices count as stale, in ms: when the feed would have been late without a run since it last succeeded. */
  lateAt: number | undefined;
}

export interface RefusedValue {
  where: string;
  reason: string;
}

/**
 * What is worth knowing of a run beside what it refused. `held`: it waits in quarantine. `withdrawn`: the provider
 * has it no more. `odd`: it was taken and looks wrong. `ignored`: it was left out
 * as it should be. `elsewhere`: another feed brings it. `failed`: a series that could not be read.
 */
export interface Note extends RefusedValue {
  kind: 'held' | 'withdrawn' | 'odd' | 'ignored' | 'elsewhere' | 'failed';
}

/** What a run did, as it is kept for ever after. */
export interface RunReport {
  status: RunStatus;
  message: string | undefined;
  /** SHA-256 of all bodies, one after the other. */
  bodyHash: string | undefined;
  bytes: number;
  requests: number;
  taken: number;
  corrected: number;
  unchanged: number;
  missing: number;
  refused: number;
  /** The first of the refused, and why. */
  reasons: RefusedValue[];
  /** Bars that were taken and whose low or high does not hold the open and close. */
  odd: number;
  /** Left out as they should be: a bar that is still forming. */
  ignored: number;
  /** Suspicious bars that wait in quarantine. */
  held: number;
  /** Days that the provider had in an earlier edition and has no more. */
  withdrawn: number;
  /** The first of the odd and the ignored, and which symbols come from elsewhere. */
  notes: Note[];
}

/** What a run that is over is counted by. */
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

/** The right to run a feed. It is lost when it is not renewed in time; `number` is the run's, and never comes again. */
export interface FeedLease {
  feed: string;
  number: number;
  holder: string;
  leaseMs: number;
  /** Runs in a row before this one that did not end well. */
  failures: number;
  /** When a run of all history last ended well. */
  lastFull: number | undefined;
  /** Series that have failed since a run before this one. */
  failing: readonly FailingSeries[];
}

/** What the ledger knows of a body that was taken in. */
export interface KnownBody {
  urlHash: string;
  etag: string | undefined;
  lastModified: string | undefined;
  observations: number;
}

/** What a feed has in the ledger: days with a price, days without one between the first and the last. */
export interface Coverage {
  days: number;
  gaps: number;
  firstDay: number | undefined;
  lastDay: number | undefined;
}

export interface Finish {
  ended: number;
  report: RunReport;
  nextRun: number;
  /** When the feed is late; given when the run succeeded. */
  lateAt?: number;
  /** Whether all history was asked for. */
  isFull?: boolean;
  bodies?: readonly KnownBody[];
  coverage?: Coverage;
  /** The series that failed, where the others did not. */
  failing?: readonly SeriesFailure[];
}

/** Another runner has the feed now. Nothing of this transaction may stay. */
export class LeaseLost extends Error {}

/** So many runs of a feed are kept; at one a day, almost three years. */
const RUNS_KEPT = 1_000;
/** A body that so many runs have not asked for is forgotten: some URLs hold a date. */
const BODY_RUNS_KEPT = 50;

/** Takes the lease and begins a run; undefined when another holds it, or, with `dueAt`, when the feed is not due any more. */
export async function takeLease(
  engine: Engine,
  tx: Sql,
  asked: { feed: string; holder: string; leaseMs: number; started: number; dueAt?: number },
): Promise<FeedLease | undefined> {
  const { feed, holder, leaseMs, started, dueAt } = asked;
  const row = await lockFeed(tx, feed);
  const now = await engine.now(tx);
  if (row.holder !== null && asNumber(row.lease_until) > now) return undefined;
  if (dueAt !== undefined && !(asNumber(row.enabled) === 1 && asNumber(row.next_run ?? 0) <= dueAt)) {
    return undefined;
  }
  const number = asNumber(row.last_run) + 1;
  await tx`UPDATE feed_run SET status = 'failed', ended = ${started}, message = ${CUT_SHORT}
    WHERE feed = ${feed} AND status = 'running'`;
  await tx`UPDATE feed SET holder = ${holder}, lease_until = ${now + leaseMs}, last_run = ${number} WHERE key = ${feed}`;
  await tx`INSERT INTO feed_run (feed, number, started, status, bytes, requests, taken, corrected, unchanged, missing,
      refused, reasons) VALUES (${feed}, ${number}, ${started}, 'running', 0, 0, 0, 0, 0, 0, 0, '[]')`;
  await tx`DELETE FROM feed_run WHERE feed = ${feed} AND number <= ${number - RUNS_KEPT}`;
  const lastFull = row.last_full === null ? undefined : asNumber(row.last_full);
  return {
    feed,
    number,
    holder,
    leaseMs,
    failures: asNumber(row.failures),
    lastFull,
    failing: readFailing(asText(row.failing)),
  };
}

export const CUT_SHORT = 'the runner ended in the middle; the run after it completes what it began';

/** Renews the lease within a transaction; throws when another has it. The row stays locked until the transaction ends. */
export async function renewLease(engine: Engine, tx: Sql, lease: FeedLease): Promise<void> {
  const until = (await engine.now(tx)) + lease.leaseMs;
  const held = await tx`UPDATE feed SET lease_until = ${until}
    WHERE key = ${lease.feed} AND holder = ${lease.holder} AND last_run = ${lease.number} RETURNING key`;
  if (held.length === 0) throw new LeaseLost(`another runner has taken over the feed ${lease.feed}`);
}

/** Ends a run: what it did, what is known of its bodies, when the next is due. All of it, or nothing. */
export async function finishRun(engine: Engine, tx: Sql, lease: FeedLease, finish: Finish): Promise<void> {
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
  const still = JSON.stringify(stillFailing(failing, lease.failing, ended, asNumberIfAny(before.late_at)));
  await tx`UPDATE feed SET failures = 0, last_ok = ${ended}, late_at = ${lateAt}, failing = ${still}
    WHERE key = ${feed}`;
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

/** A series that failed before keeps its times; a new one is late when the feed would have been. */
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

export function readFailing(json: string): FailingSeries[] {
  return JSON.parse(json);
}

/** The row of a feed, which is made when it is not there, locked until the transaction ends. */
export async function lockFeed(tx: Sql, feed: string): Promise<Row> {
  await tx`INSERT INTO feed (key, enabled, last_run, failures, days, gaps, lease_until)
    VALUES (${feed}, 0, 0, 0, 0, 0, 0) ON CONFLICT (key) DO NOTHING`;
  return onlyRow(await tx`UPDATE feed SET enabled = enabled WHERE key = ${feed} RETURNING *`);
}
