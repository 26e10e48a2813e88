import type { FrozenPrices, Prices } from '../../../board/views/prices.ts';
import type { Derivation } from '../../../market/analytics/closes.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { INTERVALS, type Interval, intervalStart, laterInterval } from '../../../market/interval.ts';
import { INTRADAY_INTERVALS } from '../../../market/intraday/interval.ts';
import { refuse } from '../../errors/errors.ts';
import { dailyText } from '../../history/daily/daily-text.ts';
import { buildPage, HistoryPage } from '../../history/history-page.ts';
import type { IntervalRow, Span } from '../../history/interval-rows.ts';
import {
  daysRead,
  intervalColumns,
  intervalTable,
  looksFar,
  requireConvertible,
  rowWriter,
} from '../../history/interval-table.ts';
import { intradayAnswer } from '../../history/intraday/intraday-answer.ts';
import {
  type IntradayQuery,
  intradayInterval,
  isIntraday,
  readIntraday,
} from '../../history/intraday/intraday-query.ts';
import { type PagePlan, planPage } from '../../history/page-plan.ts';
import { type PageRows, readPage } from '../../history/read-page.ts';
import { fieldsOf, type RowFields } from '../../history/row-fields.ts';
import { BAR_FIELDS, widePage, wideTable } from '../../history/wide-table.ts';
import type { Answer, JsonText, LargeAnswer } from '../../model/answer.ts';
import { type EndpointContext, priceEndpoint } from '../../model/endpoint.ts';
import { isLarge, stateOfBars } from '../../model/large-answer.ts';
import { unitsByRows } from '../../model/long-table.ts';
import { type MaybeAsync, maybeAsync } from '../../model/maybe-async.ts';
import { hasFormulas } from '../../model/price-query.ts';
import type { QueryParams } from '../../model/query.ts';
import type { FlatTable } from '../../model/table.ts';
import { type Cursor, cursorScopeOf, printCursor, readCursor } from '../../params/cursor.ts';
import { readDerivation } from '../../params/derivation.ts';
import { readWideField } from '../../params/layout.ts';
import { echo, finalityOf, readRange, readSymbolSet, singleUnlessEmpty } from '../../params/parameters.ts';
import { type RatesQuery, readRates } from '../../params/rates-query.ts';
import { rangeWarnings } from './closes.ts';

/** GET /rates/history: open, high, low, close and average by interval over any range. JSON is paginated; CSV and NDJSON are complete. */
export const history = priceEndpoint({
  name: 'history',
  path: '/rates/history',
  requiredData: 'all',

  read(context) {
    const { query, plan } = context;
    if (!plan.history) throw refuse('history_not_in_plan', { plan: plan.name });
    const intraday = intradayInterval(query);
    if (intraday) return readIntraday(context, intraday);
    const symbolSet = readSymbolSet(query, plan);
    const interval = readInterval(query);
    const { first, last } = readRange(query, Number.POSITIVE_INFINITY);
    const derivation = readDerivation(query);
    const fields = fieldsOf(derivation);
    const names = [...BAR_FIELDS, ...fields.names];
    const wideField = readWideField(query, context.format, names, derivation);
    const parts = [symbolSet.codes, first, last, interval, scopeOf(derivation), wideField];
    const cursorScope = cursorScopeOf(query, parts);
    const { day, symbolIndex } = readCursor(query, cursorScope) ?? { day: first, symbolIndex: 0 };
    const startDay = Math.min(Math.max(day, first), last); // a forged cursor may start anywhere
    const from = { day: intervalStart(interval, startDay), symbolIndex };
    return {
      ...readRates(context, symbolSet, { name: 'startDate', day: first }),
      first,
      last,
      interval,
      derivation,
      fields,
      wideField,
      cursorScope,
      from,
    };
  },

  answer(ratesQuery: HistoryQuery | IntradayQuery, prices, context) {
    if (isIntraday(ratesQuery)) return intradayAnswer(ratesQuery, prices, context);
    const isPaged = context.format === 'json' || context.past !== undefined;
    return isPaged ? pageOf(ratesQuery, prices, context) : tableOf(ratesQuery, prices, context);
  },

  large(ratesQuery: HistoryQuery, prices, context) {
    return context.format === 'json' ? largePageOf(ratesQuery, prices, context) : undefined;
  },

  async build(ratesQuery: HistoryQuery, { frozen, plan }, context) {
    const options = { ...ratesQuery, span: spanOf(ratesQuery), end: plan.next };
    const page = await buildPage(options, frozen);
    return pageJson(ratesQuery, page, plan.next, frozen, context);
  },
});

export interface HistoryQuery extends RatesQuery {
  first: Day;
  last: Day;
  interval: Interval;
  derivation: Derivation | undefined;
  fields: RowFields;
  /** Set if the table has one column per symbol. */
  wideField: string | undefined;
  /** Identifies the request, so that a cursor is not accepted by another. */
  cursorScope: string;
  from: Cursor;
}

interface LargePage extends LargeAnswer {
  frozen: FrozenPrices;
  plan: PagePlan;
}

export function spanOf({ first, last, today, interval, derivation, wideField }: HistoryQuery): Span {
  return {
    first,
    last: Math.min(last, today),
    interval,
    derivation,
    keepsDatesWhole: wideField !== undefined,
  };
}

/** A table of all rows from the cursor on. */
function tableOf(ratesQuery: HistoryQuery, prices: Prices, { board, now }: EndpointContext): Answer {
  const { symbols, first, last, from, fields, interval, derivation, wideField: field } = ratesQuery;
  // A formula may have no value for decades, and only `pieces` yields to requests where there are no rows.
  const isPlain = interval === 'day' && !derivation && !hasFormulas(symbols);
  const options = { board, symbols, prices, span: spanOf(ratesQuery), from, fields };
  const table =
    field === undefined
      ? intervalTable({ ...options, unitsOf: unitsByRows, render: isPlain ? dailyText : undefined })
      : wideTable({ ...options, field });
  return {
    content: table,
    finality: finalityOf(last, symbols, now - prices.delayMs),
    warnings: rangeWarnings(symbols, { first, last }, prices),
  };
}

/** One page. A table with `asOf` is read in pages, too, which `LedgerTableSource` joins. */
function pageOf(ratesQuery: HistoryQuery, prices: Prices, context: EndpointContext): MaybeAsync<Answer> {
  const { from, symbols } = ratesQuery;
  const reading = readPage(from, symbols, prices, spanOf(ratesQuery), context.past);
  return maybeAsync(reading, (page) => answerOf(ratesQuery, page, prices, context));
}

function answerOf(
  ratesQuery: HistoryQuery,
  { rows, next }: PageRows,
  prices: Prices,
  context: EndpointContext,
): Answer {
  return {
    content:
      context.format === 'json'
        ? pageJson(ratesQuery, pageFrom(rows, ratesQuery), next, prices, context)
        : pageTable(ratesQuery, rows, prices, context),
    finality: finalityOfPage(ratesQuery, next, prices, context),
    next: cursorOf(ratesQuery, next),
    warnings: rangeWarnings(ratesQuery.symbols, ratesQuery, prices),
  };
}

function pageFrom(rows: readonly IntervalRow[], { symbols, fields }: HistoryQuery): HistoryPage {
  const page = new HistoryPage(symbols, fields);
  for (const row of rows) page.add(row);
  return page;
}

function pageTable(
  { symbols, fields, wideField }: HistoryQuery,
  rows: readonly IntervalRow[],
  prices: Prices,
  { board }: EndpointContext,
): FlatTable {
  if (wideField !== undefined) return widePage(rows, symbols, fields, wideField);
  return {
    columns: intervalColumns(fields),
    rows: rows.map(rowWriter(board, symbols, prices, fields)),
  };
}

/** A page made of many bars is planned now and built once it is paid for. */
function largePageOf(
  ratesQuery: HistoryQuery,
  prices: Prices,
  context: EndpointContext,
): LargePage | undefined {
  const { symbols, first, last, interval, derivation, fields, from, metadata } = ratesQuery;
  const frozen = prices.freeze?.(symbols.map(({ series }) => series));
  if (!frozen) return undefined;
  const span = spanOf(ratesQuery);
  const plan = planPage(from, symbols, frozen, span);
  const { next } = plan;
  if (!isLarge(symbols, plan.bars) && !looksFar(symbols, span)) return undefined;
  requireConvertible(symbols, frozen, { ...span, last: plan.last }, from);
  const bars = stateOfBars(symbols, frozen, daysRead({ ...span, last: plan.last }, from));
  const cursor = cursorOf(ratesQuery, next);
  return {
    state: JSON.stringify([
      ...['history', first, last, interval, derivation ?? null, fields.names],
      ...[from, metadata, cursor ?? null, bars],
    ]),
    finality: finalityOfPage(ratesQuery, next, prices, context),
    next: cursor,
    warnings: rangeWarnings(symbols, { first, last }, prices),
    frozen,
    plan,
  };
}

function pageJson(
  ratesQuery: HistoryQuery,
  page: HistoryPage,
  next: Cursor | undefined,
  prices: Prices,
  { board }: EndpointContext,
): JsonText {
  const { first, last, interval, metadata } = ratesQuery;
  const cursor = JSON.stringify(cursorOf(ratesQuery, next) ?? null);
  const start = `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","interval":"${interval}"`;
  const end = metadata ? `,"metadata":${page.metadataJson(board, prices)}}` : '}';
  return { json: `${start},"rates":${page.ratesJson()},"next":${cursor}${end}` };
}

function scopeOf(derivation: Derivation | undefined): string {
  return derivation ? JSON.stringify(derivation) : '';
}

function cursorOf({ cursorScope }: HistoryQuery, next: Cursor | undefined): string | undefined {
  return next && printCursor(next, cursorScope);
}

/** A page may end among the symbols of the next cursor's interval, so it covers that whole interval. */
function finalityOfPage(
  { symbols, last, interval }: HistoryQuery,
  next: Cursor | undefined,
  prices: Prices,
  { now }: EndpointContext,
) {
  const lastDay = next ? laterInterval(interval, next.day, 1) - 1 : last;
  return finalityOf(lastDay, symbols, now - prices.delayMs);
}

function readInterval(query: QueryParams): Interval {
  const text = singleUnlessEmpty(query, 'interval') ?? 'day';
  const interval = INTERVALS.find((one) => one === text.toLowerCase());
  const intervals = [...INTRADAY_INTERVALS, ...INTERVALS];
  if (!interval) throw refuse('invalid_interval', { received: echo(text), intervals });
  return interval;
}
