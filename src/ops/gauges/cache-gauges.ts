import type { KnownUrl } from '../../api/cache/answer-cache.ts';
import type { TableCache } from '../../api/download/cached-text.ts';
import { preferencesCache } from '../../api/params/preferences.ts';
import type { KeptAnswer } from '../../api/pipeline/idempotency/idempotent-answers.ts';
import { dayPageCache } from '../../api/response/day-pages.ts';
import { quotedCache } from '../../api/response/json.ts';
import type { Gauge } from '../../api/telemetry/metrics.ts';
import { Catalog } from '../../board/catalog.ts';
import { barTextCache } from '../../board/series/bars/columns.ts';
import { tableLinesCache } from '../../board/series/bars/frozen-bars.ts';
import type { RateWindow } from '../../gate/rate-window.ts';
import { bufferPool } from '../../http/message/buffer-pool.ts';
import type { CachedFields } from '../../http/parse/header-cache.ts';
import { BoundedCache, type CacheStats } from '../../runtime/bounded-cache.ts';
import type { SeenBeforeOptions } from '../../runtime/seen-before.ts';

/**
 * All caches of a process, and their shares of its memory budget. Each has its own share, so that traffic that floods one
 * cache cannot evict the entries of the others.
 */
export const CACHE_SHARES = {
  /** Responses by URL and plan. The 50,000 requests of ten thousand customers fit into the default. */
  answers: 0.249,
  /** Paid responses that a client may request again. */
  idempotent_answers: 0.043,
  /** Keys that were looked up, with their accounts. */
  keys: 0.281,
  /** Bars as JSON, by symbol. */
  bar_texts: 0.12,
  /** Days of several symbols as JSON. */
  day_lines: 0.06,
  /** Tables that are downloaded repeatedly, by entity tag. */
  tables: 0.052,
  /** Bars as lines of CSV and NDJSON, by symbol: 40 years take 1 MB. */
  table_lines: 0.143,
  /** Parsed header lines of customers. */
  header_lines: 0.017,
  /** Suggestions for unknown symbols. */
  nearest_codes: 0.004,
  quoted_texts: 0.004,
  /** Parsed headers `Accept` and `Accept-Encoding`. */
  preferences: 0.002,
  /** Addresses that sent wrong keys or admin tokens. */
  failed_keys: 0.009,
  failed_tokens: 0.004,
  /** Idle buffers for responses. */
  buffers: 0.012,
} as const;

/** Customers repeat their requests every few seconds or every minute; ten thousand of them have 50,000 of their own. */
const REPEATED_URLS: SeenBeforeOptions = { slots: 2 ** 19, rememberedMs: 120_000 };

/** A table of a megabyte is worth keeping if it is downloaded again within ten minutes. */
const REPEATED_TABLES: SeenBeforeOptions = { slots: 2 ** 12, rememberedMs: 600_000 };

export type CacheName = keyof typeof CACHE_SHARES;

/** The caches that one service owns. Module-level caches are shared by all services of the process. */
export class Caches {
  readonly answers: BoundedCache<string, KnownUrl>;
  readonly idempotentAnswers: BoundedCache<string, KeptAnswer>;
  readonly tables: TableCache;
  readonly headerLines: CachedFields;
  readonly failedKeys: BoundedCache<string, RateWindow>;
  readonly failedTokens: BoundedCache<string, RateWindow>;
  readonly #bytes: number;

  constructor(bytes: number) {
    this.#bytes = bytes;
    this.answers = new BoundedCache({ bytesMax: this.bytesMax('answers'), admitsOnSecondUse: REPEATED_URLS });
    this.idempotentAnswers = new BoundedCache({ bytesMax: this.bytesMax('idempotent_answers') });
    this.tables = new BoundedCache({ bytesMax: this.bytesMax('tables'), admitsOnSecondUse: REPEATED_TABLES });
    this.headerLines = new BoundedCache({ bytesMax: this.bytesMax('header_lines'), admitsOnSecondUse: true });
    this.failedKeys = new BoundedCache({ bytesMax: this.bytesMax('failed_keys') });
    this.failedTokens = new BoundedCache({ bytesMax: this.bytesMax('failed_tokens') });
    barTextCache.limitTo(this.bytesMax('bar_texts'));
    dayPageCache.limitTo(this.bytesMax('day_lines'));
    tableLinesCache.limitTo(this.bytesMax('table_lines'));
    Catalog.nearestCache.limitTo(this.bytesMax('nearest_codes'));
    quotedCache.limitTo(this.bytesMax('quoted_texts'));
    preferencesCache.limitTo(this.bytesMax('preferences'));
    bufferPool.limitTo(this.bytesMax('buffers'));
  }

  bytesMax(name: CacheName): number {
    return Math.floor(this.#bytes * CACHE_SHARES[name]);
  }

  /** Every cache by name. The directory owns the cache of keys. */
  all(keys: CacheStats): Readonly<Record<CacheName, CacheStats>> {
    return {
      answers: this.answers,
      idempotent_answers: this.idempotentAnswers,
      keys,
      bar_texts: barTextCache,
      day_lines: dayPageCache,
      tables: this.tables,
      table_lines: tableLinesCache,
      header_lines: this.headerLines,
      nearest_codes: Catalog.nearestCache,
      quoted_texts: quotedCache,
      preferences: preferencesCache,
      failed_keys: this.failedKeys,
      failed_tokens: this.failedTokens,
      buffers: bufferPool,
    };
  }

  gauges(keys: CacheStats): Gauge[] {
    const caches = Object.entries(this.all(keys));
    const each = (read: (stats: CacheStats) => number) => () =>
      new Map(caches.map(([name, stats]) => [`cache="${name}"`, read(stats)]));
    return [
      {
        name: 'openpit_cache_bytes',
        help: 'Memory that a cache takes, with its keys.',
        value: each(({ bytes }) => bytes),
      },
      {
        name: 'openpit_cache_limit_bytes',
        help: 'Memory that a cache may take: its share of OPENPIT_CACHE_MB.',
        value: each(({ bytesMax }) => bytesMax),
      },
      { name: 'openpit_cache_entries', help: 'Entries of a cache.', value: each(({ size }) => size) },
      {
        name: 'openpit_cache_evictions_total',
        help: 'Entries that were evicted to make room for others.',
        type: 'counter',
        value: each(({ evictions }) => evictions),
      },
    ];
  }
}
