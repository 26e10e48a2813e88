import type { Day } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, type Row, type Sql } from '../engine/rows.ts';
import { sortBy } from '../engine/statements.ts';
import {
  type Coverage,
  type FailingSeries,
  type FeedLease,
  type FeedRun,
  type Finish,
  finishRun,
  type KnownBody,
  lockFeed,
  type RunStatus,
  readFailing,
  renewLease,
  takeLease,
} from './feed-runs.ts';

/** How a feed stands. */
export interface FeedHealth extends Coverage {
  key: string;
  enabled: boolean;
  /** Whether it has missed its schedule twice. A feed that is off is never late. */
  late: boolean;
  /** When it counts as late, unless a run succeeds before. */
  lateAt: number | undefined;
  /** Its newest run, which may be under way. */
  lastRun: { number: number; started: number; status: RunStatus; message: string | undefined } | undefined;
  /** When a run last ended well, whether it brought something new or not. */
  lastOkAt: number | undefined;
  nextRunAt: number | undefined;
  /** Runs in a row that did not end well. */
  failures: number;
  /** Series that fail while the others of the feed do not. */
  failing: readonly FailingSeries[];
}

/** Which feeds are on, who runs them, and what their runs did. */
export class FeedStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Turns a feed on: it is due at once, and late at `lateAt` unless a run succeeds. One that is on stays as it is. */
  async enable(key: string, now: number, lateAt: number): Promise<void> {
    await this.#engine.write(async (tx) => {
      const { enabled } = await lockFeed(tx, key);
      if (asNumber(enabled) === 1) return;
      await tx`UPDATE feed SET enabled = 1, next_run = ${now}, late_at = ${lateAt}, failures = 0 WHERE key = ${key}`;
    });
  }

  /** Turns a feed off. Its prices stay, and a run that is under way goes on to its end. */
  async disable(key: string): Promise<void> {
    await this.#engine.write(async (tx) => {
      await lockFeed(tx, key);
      await tx`UPDATE feed SET enabled = 0 WHERE key = ${key}`;
    });
  }

  /** The feeds that are on. */
  async enabled(): Promise<Set<string>> {
    const rows = await this.#engine.read`SELECT key FROM feed WHERE enabled = 1`;
    return new Set(rows.map((row: Row) => asText(row.key)));
  }

  /** The feeds that are on, due, and run by nobody. */
  async due(now: number): Promise<string[]> {
    const { read } = this.#engine;
    const ledgerNow = await this.#engine.now(read);
    const rows = await read`SELECT key FROM feed WHERE enabled = 1 AND next_run <= ${now}
      AND (holder IS NULL OR lease_until <= ${ledgerNow})`;
    return rows.map((row) => asText(row.key)).sort();
  }

  /** Takes the lease of a feed and begins a run. With `dueAt`, only if the feed is on and due then. */
  take(asked: {
    feed: string;
    holder: string;
    leaseMs: number;
    started: number;
    dueAt?: number;
  }): Promise<FeedLease | undefined> {
    return this.#engine.write((tx) => takeLease(this.#engine, tx, asked));
  }

  /** Keeps the lease for another while; throws LeaseLost when another has it. */
  renew(lease: FeedLease): Promise<void> {
    return this.#engine.write((tx) => renewLease(this.#engine, tx, lease));
  }

  /** The same within a transaction, which then stands or falls with the lease. */
  renewWithin(tx: Sql, lease: FeedLease): Promise<void> {
    return renewLease(this.#engine, tx, lease);
  }

  /** Ends the run and gives the lease back. */
  finish(lease: FeedLease, finish: Finish): Promise<void> {
    return this.#engine.write((tx) => finishRun(this.#engine, tx, lease, finish));
  }

  /** What is known of the bodies that a feed has taken in, by the hash of their URL. */
  async bodies(key: string): Promise<Map<string, KnownBody>> {
    const rows = await this.#engine.read`SELECT url_hash, etag, last_modified, observations FROM feed_body
      WHERE feed = ${key}`;
    return new Map(
      rows.map((row: Row): [string, KnownBody] => [
        asText(row.url_hash),
        {
          urlHash: asText(row.url_hash),
          etag: textOf(row.etag),
          lastModified: textOf(row.last_modified),
          observations: asNumber(row.observations),
        },
      ]),
    );
  }

  /** The days on which a source has given a price of a symbol that was not withdrawn, ascending. */
  async daysOf(source: string, symbolId: number): Promise<Day[]> {
    const rows = await this.#engine.read`SELECT DISTINCT b.day FROM bar b JOIN source s ON s.id = b.source_id
      WHERE b.symbol_id = ${symbolId} AND s.name = ${source} AND b.withdrawn = 0 AND NOT EXISTS (
        SELECT 1 FROM bar w WHERE w.symbol_id = b.symbol_id AND w.day = b.day AND w.revision > b.revision
          AND w.withdrawn > 0)
      ORDER BY b.day`;
    return rows.map((row: Row) => asNumber(row.day));
  }

  /** The last day on which a source has given a price of a symbol. */
  async lastDayOf(source: string, symbolId: number): Promise<Day | undefined> {
    const [row] = await this.#engine.read`SELECT b.day FROM bar b JOIN source s ON s.id = b.source_id
      WHERE b.symbol_id = ${symbolId} AND s.name = ${source} ORDER BY b.day DESC LIMIT 1`;
    return row === undefined ? undefined : asNumber(row.day);
  }

  /** The newest runs, of one feed or of all, newest first. */
  async history(limit: number, key?: string): Promise<FeedRun[]> {
    const { read } = this.#engine;
    const rows =
      key === undefined
        ? await read`SELECT * FROM feed_run ORDER BY started DESC, number DESC LIMIT ${limit}`
        : await read`SELECT * FROM feed_run WHERE feed = ${key} ORDER BY number DESC LIMIT ${limit}`;
    return rows.map(toRun);
  }

  /** Who runs which feed now, by the feed's key. */
  async holders(): Promise<Map<string, string>> {
    const { read } = this.#engine;
    const ledgerNow = await this.#engine.now(read);
    const rows =
      await read`SELECT key, holder FROM feed WHERE holder IS NOT NULL AND lease_until > ${ledgerNow}`;
    return new Map(rows.map((row: Row) => [asText(row.key), asText(row.holder)]));
  }

  /** How every feed stands that was ever turned on or run. It reads a few small rows: it is cheap enough for /health. */
  async health(now: number): Promise<FeedHealth[]> {
    const rows = await this.#engine.read`SELECT f.*, r.started, r.status, r.message FROM feed f
      LEFT JOIN feed_run r ON r.feed = f.key AND r.number = f.last_run`;
    const feeds: FeedHealth[] = rows.map((row: Row) => toHealth(row, now));
    return sortBy(feeds, (feed) => feed.key);
  }
}

function toHealth(row: Row, now: number): FeedHealth {
  const enabled = asNumber(row.enabled) === 1;
  const lateAt = numberOf(row.late_at);
  return {
    key: asText(row.key),
    enabled,
    late: enabled && lateAt !== undefined && now > lateAt,
    lateAt: enabled ? lateAt : undefined,
    lastRun:
      row.started === null
        ? undefined
        : {
            number: asNumber(row.last_run),
            started: asNumber(row.started),
            status: asText(row.status) as RunStatus,
            message: textOf(row.message),
          },
    lastOkAt: numberOf(row.last_ok),
    nextRunAt: enabled ? numberOf(row.next_run) : undefined,
    failures: asNumber(row.failures),
    failing: readFailing(asText(row.failing)),
    days: asNumber(row.days),
    gaps: asNumber(row.gaps),
    firstDay: numberOf(row.first_day),
    lastDay: numberOf(row.last_day),
  };
}

function toRun(row: Row): FeedRun {
  return {
    feed: asText(row.feed),
    number: asNumber(row.number),
    started: asNumber(row.started),
    ended: numberOf(row.ended),
    status: asText(row.status) as RunStatus,
    message: textOf(row.message),
    bodyHash: textOf(row.body_hash),
    bytes: asNumber(row.bytes),
    requests: asNumber(row.requests),
    taken: asNumber(row.taken),
    corrected: asNumber(row.corrected),
    unchanged: asNumber(row.unchanged),
    missing: asNumber(row.missing),
    refused: asNumber(row.refused),
    reasons: JSON.parse(asText(row.reasons)),
    odd: asNumber(row.odd),
    ignored: asNumber(row.ignored),
    held: asNumber(row.held),
    withdrawn: asNumber(row.withdrawn),
    notes: JSON.parse(asText(row.notes)),
  };
}

function numberOf(value: string | number | null | undefined): number | undefined {
  return value === null || value === undefined ? undefined : asNumber(value);
}

function textOf(value: string | number | null | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}
