import type { Prices } from '../../../board/views/prices.ts';
import type { DayRange } from '../../../ledger/prices/past.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { INTERVALS, type Interval, intervalStart, laterInterval } from '../../../market/interval.ts';
import { refuse } from '../../errors/errors.ts';
import { buildPage, HistoryPage } from '../../history/history-page.ts';
import { type IntervalRow, piecesOf, type Span, windowsFrom } from '../../history/interval-rows.ts';
import { INTERVAL_COLUMNS, intervalTable, rowWriter } from '../../history/interval-table.ts';
import { PAGE_BARS_MAX, planPage } from '../../history/page-plan.ts';
import { type Answer, type EndpointContext, type LedgerReads, priceEndpoint } from '../../model/endpoint.ts';
import { LARGE_FROM_BARS, type LargeAnswer, stateOfBars } from '../../model/large-answer.ts';
import { ROWS_PER_UNIT, unitsByRows } from '../../model/long-table.ts';
import { type MaybeAsync, maybeAsync } from '../../model/maybe-async.ts';
import type { QueryParams } from '../../model/query.ts';
import { type Cursor, printCursor, readCursor } from '../../params/cursor.ts';
import { echo, finalityOf, readRange, readSymbolSet, single } from '../../params/parameters.ts';
import { type RatesQuery, readRates } from '../../params/rates-query.ts';
import type { RequestedSymbol } from '../../params/symbol-set.ts';

/** GET /rates/history: open, high, low and close by interval over any span. JSON comes in pages, a table as a whole. */
export const history = priceEndpoint({
  name: 'history',
  path: '/rates/history',
  needs: 'all',

  read(context) {
    const { query, plan } = context;
    if (!plan.history) throw refuse('history_not_in_plan', { plan: plan.name });
    const symbolSet = readSymbolSet(query, plan);
    const { first, last } = readRange(query, Number.POSITIVE_INFINITY);
    const interval = readInterval(query);
    const asked = `${symbolSet.codes} ${first} ${last} ${interval}`;
    const { day, place } = readCursor(query, asked) ?? { day: first, place: 0 };
    const from = { day: intervalStart(interval, day), place };
    return {
      ...readRates(context, symbolSet, { name: 'startDate', day: first }),
      first,
      last,
      interval,
      asked,
      from,
    };
  },

  answer(ratesQuery, prices, context) {
    const isPaged = context.format === 'json' || context.past !== undefined;
    return isPaged ? pageOf(ratesQuery, prices, context) : wholeOf(ratesQuery, prices, context);
  },

  large(ratesQuery, prices, context) {
    return context.format === 'json' ? largePageOf(ratesQuery, prices, context) : undefined;
  },
});

/** What a request for history asks. */
interface HistoryQuery extends RatesQuery {
  first: Day;
  last: Day;
  interval: Interval;
  /** Identifies the query, for its cursors. */
  asked: string;
  from: Cursor;
}

function spanOf({ first, last, today, interval }: HistoryQuery): Span {
  return { first, last: Math.min(last, today), interval };
}

/** All rows from the cursor on. */
function wholeOf(ratesQuery: HistoryQuery, prices: Prices, { board, now }: EndpointContext): Answer {
  const { symbols, last, from } = ratesQuery;
  const table = intervalTable({
    board,
    symbols,
    prices,
    span: spanOf(ratesQuery),
    from,
    unitsOf: unitsByRows,
  });
  return { table: () => table, finality: finalityOf(last, symbols, now - prices.delayMs) };
}

/** One page. From the ledger, a table comes in pages too. */
function pageOf(ratesQuery: HistoryQuery, prices: Prices, context: EndpointContext): MaybeAsync<Answer> {
  const reading = pageFrom(ratesQuery.from, ratesQuery.symbols, prices, spanOf(ratesQuery));
  return maybeAsync(readPage(reading, context.past), (page) => answerOf(ratesQuery, page, prices, context));
}

function answerOf(
  ratesQuery: HistoryQuery,
  { rows, next }: Page,
  prices: Prices,
  context: EndpointContext,
): Answer {
  const { board } = context;
  const { symbols } = ratesQuery;
  return {
    json(writer) {
      const page = new HistoryPage(symbols);
      for (const row of rows) page.add(row);
      writer.text(pageJson(ratesQuery, page, next, prices, context));
    },
    table: () => ({ columns: INTERVAL_COLUMNS, rows: rows.map(rowWriter(board, symbols, prices)) }),
    finality: finalityOfPage(ratesQuery, next, prices, context),
    next: cursorOf(ratesQuery, next),
  };
}

/** A page that is made of many bars: it is planned now, and built later. */
function largePageOf(
  ratesQuery: HistoryQuery,
  prices: Prices,
  context: EndpointContext,
): LargeAnswer | undefined {
  const { symbols, first, last, interval, from, metadata } = ratesQuery;
  const frozen = prices.freeze?.(symbols.map(({ series }) => series));
  if (!frozen) return undefined;
  const span = spanOf(ratesQuery);
  const plan = planPage(from, symbols, frozen, span);
  const { next } = plan;
  if (plan.bars <= LARGE_FROM_BARS) return undefined;
  const days = { first: Math.max(first, from.day), last: plan.last };
  for (const { series } of symbols) frozen.requireComplete(series, days.first, days.last);
  const bars = stateOfBars(symbols, frozen, days);
  const finality = finalityOfPage(ratesQuery, next, prices, context);
  const cursor = cursorOf(ratesQuery, next);
  return {
    state: JSON.stringify(['history', first, last, interval, from, metadata, cursor ?? null, bars]),
    finality,
    next: cursor,
    async build() {
      const page = await buildPage(from, symbols, frozen, span, plan.rows);
      return {
        json: (writer) => writer.text(pageJson(ratesQuery, page, next, frozen, context)),
        finality,
        next: cursor,
      };
    },
  };
}

function pageJson(
  ratesQuery: HistoryQuery,
  page: HistoryPage,
  next: Cursor | undefined,
  prices: Prices,
  { board }: EndpointContext,
): string {
  const { first, last, interval, metadata } = ratesQuery;
  const cursor = JSON.stringify(cursorOf(ratesQuery, next) ?? null);
  const start = `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","interval":"${interval}"`;
  const end = metadata ? `,"metadata":${page.metadataJson(board, prices)}}` : '}';
  return `${start},"rates":${page.ratesJson()},"next":${cursor}${end}`;
}

function cursorOf({ asked }: HistoryQuery, next: Cursor | undefined): string | undefined {
  return next && printCursor(next, asked);
}

/** A page is about the days before the next one. */
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
  const text = single(query, 'interval') ?? 'day';
  const interval = INTERVALS.find((one) => one === text.trim().toLowerCase());
  if (!interval) throw refuse('invalid_interval', { received: echo(text), intervals: INTERVALS });
  return interval;
}

interface Page {
  rows: IntervalRow[];
  next: Cursor | undefined;
}

/** Reads a page to its end. Prices in memory are there at once; from the ledger, days are loaded before they are read. */
function readPage(reading: Generator<DayRange, Page>, past: LedgerReads | undefined): MaybeAsync<Page> {
  if (past) return loadPage(reading, past);
  let step = reading.next();
  while (!step.done) step = reading.next();
  return step.value;
}

async function loadPage(reading: Generator<DayRange, Page>, past: LedgerReads): Promise<Page> {
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
    await past.load(step.value);
  }
}

/** How many intervals longer than a day are loaded at once. */
const INTERVALS_PER_LOAD = 4;

/** A page of rows from a place on, and where the next one begins. Yields the days it is about to read. */
function* pageFrom(
  from: Cursor,
  symbols: readonly RequestedSymbol[],
  prices: Prices,
  span: Span,
): Generator<DayRange, Page> {
  const { interval, last } = span;
  const ahead = interval === 'day' ? Math.ceil(ROWS_PER_UNIT / symbols.length) + 1 : INTERVALS_PER_LOAD;
  const rows: IntervalRow[] = [];
  let bars = 0;
  let loadedTo = Number.NEGATIVE_INFINITY;
  for (const window of windowsFrom(from, symbols, prices, span)) {
    if (window.last > loadedTo) {
      loadedTo = Math.max(window.last, Math.min(last, laterInterval(interval, window.start, ahead) - 1));
      yield { first: window.first, last: loadedTo };
    }
    for (const piece of piecesOf(window, from, symbols, prices, interval)) {
      rows.push(...piece.rows);
      bars += piece.bars;
      const over = rows[ROWS_PER_UNIT];
      if (over) return { rows: rows.slice(0, ROWS_PER_UNIT), next: { day: over.day, place: over.place } };
      if (bars >= PAGE_BARS_MAX) return { rows, next: piece.next.day <= last ? piece.next : undefined };
    }
  }
  return { rows, next: undefined };
}
