import type { Day } from '../../market/day.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Engine } from '../engine/engine.ts';
import { readMeta, writeMeta } from '../engine/meta.ts';
import {
  asFlag,
  asJson,
  asNumber,
  asOneOf,
  asText,
  optional,
  type Row,
  rowReader,
  type Sql,
} from '../engine/rows.ts';
import { sortBy } from '../engine/statements.ts';
import { standingBar } from '../prices/standing.ts';
import {
  type Coverage,
  type FailingSeries,
  type FeedLease,
  type FeedRun,
  type FinishedRun,
  finishRun,
  type KnownBody,
  type LeaseRequest,
  lockFeed,
  type Note,
  type RefusedValue,
  type RunStatus,
  renewLease,
  takeLease,
} from './feed-runs.ts';
import { type FilledSymbols, readFilled } from './filled-symbols.ts';
import { addRequest, type RunRequest, waitingRequests } from './run-requests.ts';

/** The state of a feed. */
export interface FeedHealth extends Coverage {
  key: string;
  enabled: boolean;
  /** Whether it has missed its schedule twice. A disabled feed is never late. */
  late: boolean;
  /** When it counts as late unless a run succeeds first. */
  lateAt: number | undefined;
  /** Its newest run, which may still be running. */
  lastRun: { number: number; started: number; status: RunStatus; message: string | undefined } | undefined;
  /** When a run last succeeded, with or without new data. */
  lastOkAt: number | undefined;
  nextRunAt: number | undefined;
  /** Consecutive failed runs. */
  failures: number;
  /** Series that fail while the others of the feed do not. */
  failing: readonly FailingSeries[];
}

type Urls = Readonly<Record<string, string>>;

const readStatus = asOneOf<RunStatus>('running', 'ok', 'unchanged', 'partial', 'failed', 'quarantined');

const FEED_STATE = rowReader({
  key: asText,
  enabled: asFlag,
  lateAt: optional(asNumber),
  lastRun: asNumber,
  lastOk: optional(asNumber),
  nextRun: optional(asNumber),
  failures: asNumber,
  failing: asJson<FailingSeries[]>(),
  days: asNumber,
  gaps: asNumber,
  firstDay: optional(asNumber),
  lastDay: optional(asNumber),
});

/** The columns of a feed's last run; NULL when it has never run. */
const LAST_RUN = rowReader({
  started: optional(asNumber),
  status: optional(readStatus),
  message: optional(asText),
});

const RUN = rowReader<FeedRun>({
  feed: asText,
  number: asNumber,
  started: asNumber,
  ended: optional(asNumber),
  status: readStatus,
  message: optional(asText),
  bodyHash: optional(asText),
  bytes: asNumber,
  requests: asNumber,
  taken: asNumber,
  corrected: asNumber,
  unchanged: asNumber,
  missing: asNumber,
  refused: asNumber,
  reasons: asJson<RefusedValue[]>(),
  odd: asNumber,
  ignored: asNumber,
  held: asNumber,
  withdrawn: asNumber,
  notes: asJson<Note[]>(),
});

const BODY = rowReader<KnownBody>({
  urlHash: asText,
  etag: optional(asText),
  lastModified: optional(asText),
  observations: asNumber,
});

/** Which feeds are enabled, who runs them, and what their runs did. */
export class FeedStore {
  readonly #engine: Engine;
  readonly #audit: AuditLog;

  constructor(engine: Engine, audit: AuditLog) {
    this.#engine = engine;
    this.#audit = audit;
  }

  /** Enables a feed: it is due now, and late at `lateAt` unless a run succeeds. An enabled feed is unchanged. */
  async enable(key: string, now: number, lateAt: number): Promise<void> {
    await this.#engine.write(async (tx) => {
      const { enabled } = await lockFeed(this.#engine, tx, key);
      if (enabled) return;
      await tx`UPDATE feed SET enabled = 1, next_run = ${now}, late_at = ${lateAt}, failures = 0 WHERE key = ${key}`;
      await this.#audit.record(tx, { action: 'feed.enable', target: key });
    });
  }

  /** Disables a feed. Its prices stay, and a run in progress completes. */
  async disable(key: string): Promise<void> {
    await this.#engine.write(async (tx) => {
      const { enabled } = await lockFeed(this.#engine, tx, key);
      if (!enabled) return;
      await tx`UPDATE feed SET enabled = 0 WHERE key = ${key}`;
      await this.#audit.record(tx, { action: 'feed.disable', target: key });
    });
  }

  /** The enabled feeds. */
  async enabled(): Promise<Set<string>> {
    const rows = await this.#engine.read`SELECT key FROM feed WHERE enabled = 1`;
    return new Set(rows.map((row) => asText(row.key)));
  }

  /** The enabled feeds that are due and that nobody runs. */
  async due(now: number): Promise<string[]> {
    const { read } = this.#engine;
    const ledgerNow = await this.#engine.now(read);
    const rows = await read`SELECT key FROM feed WHERE enabled = 1 AND next_run <= ${now}
      AND (holder IS NULL OR lease_until <= ${ledgerNow})`;
    return rows.map((row) => asText(row.key)).sort();
  }

  /** Takes the lease of a feed and starts a run, under the conditions of the request. */
  take(request: LeaseRequest): Promise<FeedLease | undefined> {
    return this.#engine.write(async (tx) => {
      const lease = await takeLease(this.#engine, tx, request);
      if (lease) await this.#audit.record(tx, { action: 'feed.run', target: request.feed });
      return lease;
    });
  }

  /** The addresses of a feed's provider that the operator has replaced, by name. */
  urls(key: string): Promise<Urls> {
    return readUrls(this.#engine.read, key);
  }

  /** Replaces addresses of a feed's provider; an empty list restores the provider's own. */
  async setUrls(key: string, urls: Urls): Promise<void> {
    await this.changeUrls(key, () => urls);
  }

  /** Stores the result of applying `change` to the replaced addresses, in one transaction, so that no concurrent change is lost. */
  changeUrls(key: string, change: (known: Urls) => Urls): Promise<Urls> {
    return this.#engine.write(async (tx) => {
      await lockFeed(this.#engine, tx, key);
      const urls = change(await readUrls(tx, key));
      await writeMeta(tx, urlsName(key), JSON.stringify(urls));
      const hosts = Object.entries(urls).map(([name, url]) => [name, URL.parse(url)?.host ?? '']); // a URL may hold a key
      const details = { hosts: Object.fromEntries(hosts) };
      await this.#audit.record(tx, { action: 'feed.addresses', target: key, details });
      return urls;
    });
  }

  /** Has a feed run by the process that runs the feeds, even if it is disabled. */
  async requestRun(key: string, accept: boolean): Promise<void> {
    await this.#engine.write(async (tx) => {
      await addRequest(tx, key, { accept });
      await this.#audit.record(tx, { action: 'feed.run', target: key, details: { accept } });
    });
  }

  /** The requested runs that have not started, by feed. A run takes its request together with the lease. */
  requestedRuns(): Promise<Map<string, RunRequest>> {
    return waitingRequests(this.#engine.read);
  }

  /** Extends the lease; throws LeaseLost when another runner has it. */
  renew(lease: FeedLease): Promise<void> {
    return this.#engine.write((tx) => renewLease(this.#engine, tx, lease));
  }

  /** Extends the lease in an open transaction, which rolls back when the lease is lost. */
  renewWithin(tx: Sql, lease: FeedLease): Promise<void> {
    return renewLease(this.#engine, tx, lease);
  }

  /** Ends the run and releases the lease. */
  finish(lease: FeedLease, finish: FinishedRun): Promise<void> {
    return this.#engine.write((tx) => finishRun(this.#engine, tx, lease, finish));
  }

  /** The response bodies that a feed has stored, by the hash of their URL. */
  async bodies(key: string): Promise<Map<string, KnownBody>> {
    const { read, placeholder: p } = this.#engine;
    const rows = await read.unsafe(`SELECT ${BODY.columns} FROM feed_body WHERE feed = ${p(1)}`, [key]);
    return new Map(rows.map(BODY.read).map((body) => [body.urlHash, body]));
  }

  /** The symbols that a feed filled in its last successful run. */
  filled(key: string): Promise<FilledSymbols> {
    return readFilled(this.#engine.read, key);
  }

  /** The days with a price of a source that was not withdrawn, ascending. */
  async daysOf(source: string, symbolId: number): Promise<Day[]> {
    const { read, placeholder: p } = this.#engine;
    const rows = await read.unsafe(
      `SELECT DISTINCT b.day FROM bar b JOIN source s ON s.id = b.source_id
       WHERE b.symbol_id = ${p(1)} AND s.name = ${p(2)} AND ${standingBar('b')} ORDER BY b.day`,
      [symbolId, source],
    );
    return rows.map((row) => asNumber(row.day));
  }

  /** The last day with a price of a source. */
  async lastDayOf(source: string, symbolId: number): Promise<Day | undefined> {
    const [row] = await this.#engine.read`SELECT b.day FROM bar b JOIN source s ON s.id = b.source_id
      WHERE b.symbol_id = ${symbolId} AND s.name = ${source} ORDER BY b.day DESC LIMIT 1`;
    return row === undefined ? undefined : asNumber(row.day);
  }

  /** The newest runs of one feed or of all, newest first. */
  async history(limit: number, key?: string): Promise<FeedRun[]> {
    const { read, placeholder: p } = this.#engine;
    const select = `SELECT ${RUN.columns} FROM feed_run`;
    const rows =
      key === undefined
        ? await read.unsafe(`${select} ORDER BY started DESC, number DESC LIMIT ${p(1)}`, [limit])
        : await read.unsafe(`${select} WHERE feed = ${p(1)} ORDER BY number DESC LIMIT ${p(2)}`, [
            key,
            limit,
          ]);
    return rows.map(RUN.read);
  }

  /** Who runs which feed now, by feed key. */
  async holders(): Promise<Map<string, string>> {
    const { read } = this.#engine;
    const ledgerNow = await this.#engine.now(read);
    const rows =
      await read`SELECT key, holder FROM feed WHERE holder IS NOT NULL AND lease_until > ${ledgerNow}`;
    return new Map(rows.map((row) => [asText(row.key), asText(row.holder)]));
  }

  /** The state of every feed that was ever enabled or run. Reads a few small rows: cheap enough for /health. */
  async health(now: number): Promise<FeedHealth[]> {
    const rows = await this.#engine.read.unsafe(
      `SELECT ${FEED_STATE.columnsOf('f')}, ${LAST_RUN.columnsOf('r')} FROM feed f
       LEFT JOIN feed_run r ON r.feed = f.key AND r.number = f.last_run`,
    );
    return sortBy(
      rows.map((row) => readHealth(row, now)),
      (feed) => feed.key,
    );
  }
}

const urlsName = (key: string) => `feed-urls ${key}`;

async function readUrls(handle: Sql, key: string): Promise<Urls> {
  return JSON.parse((await readMeta(handle, urlsName(key))) ?? '{}');
}

function readHealth(row: Row, now: number): FeedHealth {
  const { lastRun: number, lastOk, nextRun, lateAt, ...feed } = FEED_STATE.read(row);
  const { started, status, message } = LAST_RUN.read(row);
  return {
    ...feed,
    late: feed.enabled && lateAt !== undefined && now > lateAt,
    lateAt: feed.enabled ? lateAt : undefined,
    lastRun: started === undefined || status === undefined ? undefined : { number, started, status, message },
    lastOkAt: lastOk,
    nextRunAt: feed.enabled ? nextRun : undefined,
  };
}
