import type { Board } from '../../../board/board.ts';
import { historySince, NotLoaded, type RequiredData } from '../../../board/series/load/load-level.ts';
import { SymbolSeries } from '../../../board/series/symbol-series.ts';
import { LOOK_BACK_DAYS } from '../../../market/symbol.ts';
import type { AnswerCache } from '../../cache/answer-cache.ts';
import type { CachedAnswer } from '../../cache/cached-answer.ts';
import { DeferredAnswer } from '../../cache/deferred-answer.ts';
import { RATE_DAYS_MAX } from '../../conversion/converted-prices.ts';
import type { TableCache } from '../../download/cached-text.ts';
import type { Download } from '../../download/download.ts';
import { gzipInSlices } from '../../download/gzip-chunks.ts';
import { LongTableSource } from '../../download/long-table-source.ts';
import { pricesOf } from '../../formulas/prices-of.ts';
import type { Answer, Finality, LargeAnswer } from '../../model/answer.ts';
import type { PriceEndpoint } from '../../model/endpoint.ts';
import { type MaybeAsync, maybeAsync } from '../../model/maybe-async.ts';
import type { TextFormat } from '../../model/table.ts';
import { ParquetAnswer } from '../../parquet/parquet-answer.ts';
import { contentOf, encodeContent, noBody } from '../../response/format.ts';
import { PLAIN_BYTES_MAX } from '../../response/gzip.ts';
import { addedMembers } from '../../response/json.ts';
import type { PreparedAnswer } from '../request/prepared-answer.ts';
import type { PriceRequest } from '../request/price-request.ts';
import type { Step } from '../request/step.ts';
import type { AnswerEncoder } from './encode-answer.ts';

export interface BuildAnswerOptions {
  board: Board;
  encoder: AnswerEncoder;
  answerCache: AnswerCache;
  tableCache: TableCache;
}

/** Sets the answer that is built from prices in memory. */
export function buildAnswer(options: BuildAnswerOptions): Step<PriceEndpoint> {
  const builder = new AnswerBuilder(options);
  return (context) =>
    maybeAsync(builder.build(context.priceRequest!), (answer) => {
      context.answer = answer;
      return undefined;
    });
}

/**
 * Builds answers, and offers them to the cache.
 *
 *     load series ─► prices ─► convert currency and unit ─► endpoint.answer ─► JSON, CSV, NDJSON, rows for Parquet
 */
class AnswerBuilder {
  readonly #board: Board;
  readonly #encoder: AnswerEncoder;
  readonly #answerCache: AnswerCache;
  readonly #tableCache: TableCache;

  constructor({ board, encoder, answerCache, tableCache }: BuildAnswerOptions) {
    this.#board = board;
    this.#encoder = encoder;
    this.#answerCache = answerCache;
    this.#tableCache = tableCache;
  }

  /** Starts over after loading: the board may evict a series while others load. */
  build(priceRequest: PriceRequest, required = requiredData(priceRequest)): MaybeAsync<PreparedAnswer> {
    const { context, priceQuery } = priceRequest;
    const loading = this.#board.prepare(priceQuery.series, required, context.now);
    if (loading) return loading.then(() => this.build(priceRequest, required));
    // The clock was set back since two years were loaded, or an error names an earlier day of a formula.
    const loadAll = (error: unknown) => {
      if (!(error instanceof NotLoaded) || required === 'all') throw error;
      return this.build(priceRequest, 'all');
    };
    try {
      const answer = this.#answer(priceRequest);
      return answer instanceof Promise ? answer.catch(loadAll) : answer;
    } catch (error) {
      return loadAll(error);
    }
  }

  #answer(priceRequest: PriceRequest): MaybeAsync<PreparedAnswer> {
    const { endpoint, context, priceQuery, view } = priceRequest;
    const prices = pricesOf(view, priceQuery, context.now);
    const large = endpoint.large?.(priceQuery, prices, context);
    if (large) return maybeAsync(large, (answer) => this.#defer(priceRequest, answer));
    const version = SymbolSeries.lastVersion;
    const answering = endpoint.answer(priceQuery, prices, context);
    return maybeAsync(answering, (found) => this.#encode(priceRequest, found, version));
  }

  /** `version` is that of the series when the answer was started. */
  #encode(
    priceRequest: PriceRequest,
    answer: Answer,
    version: number,
  ): CachedAnswer | Download | ParquetAnswer {
    const { format } = priceRequest.context;
    const { content, finality, next, warnings = [] } = answer;
    const body = encodeContent(content, format, membersOf(priceRequest, answer));
    if ('columns' in body) {
      // Empty tables of different symbols differ only in their warnings, and a Parquet file keeps its own.
      const etag = this.#encoder.tagOfState(priceRequest, {
        state: [body.state, ...warnings].join('\n'),
        finality,
      });
      if (format === 'parquet') {
        const source = new LongTableSource(body, 'ndjson');
        return new ParquetAnswer({ columns: body.columns, source, finality, etag, warnings });
      }
      const source = new LongTableSource(body, format as TextFormat);
      return this.#encoder.download(priceRequest, {
        source,
        finality,
        etag,
        warnings,
        cache: this.#tableCache,
      });
    }
    const encoded = this.#encoder.encode(priceRequest, { body, finality, next, warnings });
    this.#cache(priceRequest, encoded, { version, finality });
    return encoded;
  }

  /** The tag is known at once; the body is written when somebody pays for it. It is never cached: its prices may change meanwhile. */
  #defer(priceRequest: PriceRequest, large: LargeAnswer): DeferredAnswer {
    const { endpoint, context, priceQuery } = priceRequest;
    const { finality, next } = large;
    const members = membersOf(priceRequest, large);
    const etag = this.#encoder.tagOfState(priceRequest, { finality, state: large.state + members });
    const head = { body: noBody(context.format), finality, next };
    return new DeferredAnswer(this.#encoder.encode(priceRequest, head, etag), async (wantsGzip) => {
      const body = encodeContent(await endpoint.build!(priceQuery, large, context), 'json', members);
      const isLong = body.length > PLAIN_BYTES_MAX;
      const gzipped = wantsGzip && isLong ? await gzipInSlices(contentOf(body)) : undefined;
      return this.#encoder.encode(priceRequest, { body, gzipped, finality, next }, etag);
    });
  }

  /** The cache is keyed by URL, which does not contain `Accept`. The answer of a dry run is never sent. */
  #cache(
    priceRequest: PriceRequest,
    answer: CachedAnswer,
    { version, finality }: { version: number; finality: Finality },
  ): void {
    const { url, endpoint, context, namedFormat, pathFormat, isDryRun, priceQuery, view } = priceRequest;
    if (isDryRun || (!namedFormat && context.format !== 'json')) return;
    const { dialect, now } = context;
    const sources = {
      board: this.#board,
      view,
      series: priceQuery.series,
      version,
      now,
      changesEverySecond: endpoint.requiredData === 'dates',
      lastDay: finality === 'closed' ? priceQuery.lastDay : undefined,
    };
    const namesFormat = namedFormat !== undefined;
    const { hasFormulas = false } = priceQuery;
    this.#answerCache.keep(url, { endpoint, dialect, pathFormat, namesFormat, hasFormulas }, answer, sources);
  }
}

/** The furthest that `windowsOf` extends a range: the exchange rate of a monthly price. */
const LOOK_BACK_MAX = LOOK_BACK_DAYS.month + RATE_DAYS_MAX;

/** What must be in memory. An answer about the last two years does not wait for older days. */
function requiredData({ endpoint, priceQuery, context }: PriceRequest): RequiredData {
  if (endpoint.requiredData !== 'all' || !endpoint.reads) return endpoint.requiredData;
  const first = Math.min(...endpoint.reads(priceQuery).ranges.map((range) => range.first));
  return historySince(first - LOOK_BACK_MAX, context.now);
}

/** What is added to the JSON of an answer. */
function membersOf({ priceQuery, warnings }: PriceRequest, answer: Answer | LargeAnswer): string {
  return addedMembers({ unresolved: priceQuery.unresolved, warnings }, answer.warnings);
}
