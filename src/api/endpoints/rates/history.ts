import type { Prices } from '../../../board/prices.ts';
import type { DayRange } from '../../../ledger/prices/past.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { INTERVALS, type Interval, intervalStart, laterInterval } from '../../../market/interval.ts';
import { refuse } from '../../errors/errors.ts';
import { buildPage, HistoryPage } from '../../history/history-page.ts';
import { type IntervalRow, piecesOf, type Span, windowsFrom } from '../../history/interval-rows.ts';
import { INTERVAL_COLUMNS, intervalTable, rowWriter } from '../../history/interval-table.ts';
import { PAGE_BARS_MAX, planPage } from '../../history/page-plan.ts';
import { type Answer, type Context, type LedgerReads, priceEndpoint } from '../../model/endpoint.ts';
import { LARGE_FROM_BARS, type LargeAnswer, stateOfBars } from '../../model/large-answer.ts';
import { ROWS_PER_UNIT, unitsByRows } from '../../model/long-table.ts';
import { type Soon, soon } from '../../model/maybe-async.ts';
import type { Query } from '../../model/query.ts';
import { type Cursor, printCursor, readCursor } from '../../params/cursor.ts';
import { echo, lastingOf, readBasket, readRange, single } from '../../params/parameters.ts';
import { type RatesQuestion, readRates } from '../../params/rates-query.ts';
import type { AskedSymbol } from '../../params/symbol-set.ts';

/** GET /rates/history: open, high, low and close by interval over any span. JSON comes in pages, a table as a whole. */
export const history = priceEndpoint({
  name: 'history',
  path: '/rates/history',
  needs: 'all',

  read(context) {
    const { query, plan } = context;
    if (!plan.history) throw refuse('history_not_in_plan', { plan: plan.name });
    const basket = readBasket(query, plan);
    const { first, last } = readRange(query, Number.POSITIVE_INFINITY);
    const interval = readInterval(query);
    const asked = `${basket.codes} ${first} ${last} ${interval}`;
    const { day, place } = readCursor(query, asked) ?? { day: first, place: 0 };
    const from = { day: intervalStart(interval, day), place };
    return {
      ...readRates(context, basket, { name: 'startDate', day: first }),
      first,
      last,
      interval,
      asked,
      from,
    };
  },

  answer(question, prices, context) {
    const isPaged = context.format === 'json' || context.past !== undefined;
    return isPaged ? pageOf(question, prices, context) : wholeOf(question, prices, context);
  },

  large(question, prices, context) {
    return context.format === 'json' ? largePageOf(question, prices, context) : undefined;
  },
});

/** What a request for history asks. */
interface HistoryQuestion extends RatesQuestion {
  first: Day;
  last: Day;
  interval: Interval;
  /** Names the question, for its cursors. */
  asked: string;
  from: Cursor;
}

function spanOf({ first, last, today, interval }: HistoryQuestion): Span {
  return { first, last: Math.min(last, today), interval };
}

/** All rows from the cursor on. */
function wholeOf(question: HistoryQuestion, prices: Prices, { board, now }: Context): Answer {
  const { symbols, last, from } = question;
  const table = intervalTable({ board, symbols, prices, span: spanOf(question), from, unitsOf: unitsByRows });
  return { table: () => table, lasting: lastingOf(last, symbols, now - prices.delayMs) };
}

/** One page. From the ledger, a table comes in pages too. */
function pageOf(question: HistoryQuestion, prices: Prices, context: Context): Soon<Answer> {
  const reading = pageFrom(question.from, question.symbols, prices, spanOf(question));
  return soon(readPage(reading, context.past), (page) => answerOf(question, page, prices, context));
}

function answerOf(question: HistoryQuestion, { rows, next }: Page, prices: Prices, context: Context): Answer {
  const { board } = context;
  const { symbols } = question;
  return {
    json(sheet) {
      const page = new HistoryPage(symbols);
      for (const row of rows) page.add(row);
      sheet.text(pageJson(question, page, next, prices, context));
    },
    table: () => ({ columns: INTERVAL_COLUMNS, rows: rows.map(rowWriter(board, symbols, prices)) }),
    lasting: lastingOfPage(question, next, prices, context),
    next: cursorOf(question, next),
  };
}

/** A page that is made of many bars: it is planned now, and built later. */
function largePageOf(question: HistoryQuestion, prices: Prices, context: Context): LargeAnswer | undefined {
  const { symbols, first, last, interval, from, metadata } = question;
  const frozen = prices.freeze?.(symbols.map(({ series }) => series));
  if (!frozen) return undefined;
  const span = spanOf(question);
  const plan = planPage(from, symbols, frozen, span);
  const { next } = plan;
  if (plan.bars <= LARGE_FROM_BARS) return undefined;
  const days = { first: Math.max(first, from.day), last: plan.last };
  for (const { series } of symbols) frozen.requireComplete(series, days.first, days.last);
  const bars = stateOfBars(symbols, frozen, days);
  const lasting = lastingOfPage(question, next, prices, context);
  const cursor = cursorOf(question, next);
  return {
    state: JSON.stringify(['history', first, last, interval, from, metadata, cursor ?? null, bars]),
    lasting,
    next: cursor,
    async build() {
      const page = await buildPage(from, symbols, frozen, span, plan.rows);
      return {
        json: (sheet) => sheet.text(pageJson(question, page, next, frozen, context)),
        lasting,
        next: cursor,
      };
    },
  };
}

function pageJson(
  question: HistoryQuestion,
  page: HistoryPage,
  next: Cursor | undefined,
  prices: Prices,
  { board }: Context,
): string {
  const { first, last, interval, metadata } = question;
  const cursor = JSON.stringify(cursorOf(question, next) ?? null);
  const start = `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","interval":"${interval}"`;
  const end = metadata ? `,"metadata":${page.metadataJson(board, prices)}}` : '}';
  return `${start},"rates":${page.ratesJson()},"next":${cursor}${end}`;
}

function cursorOf({ asked }: HistoryQuestion, next: Cursor | undefined): string | undefined {
  return next && printCursor(next, asked);
}

/** A page is about the days before the next one. */
function lastingOfPage(
  { symbols, last, interval }: HistoryQuestion,
  next: Cursor | undefined,
  prices: Prices,
  { now }: Context,
) {
  const lastDay = next ? laterInterval(interval, next.day, 1) - 1 : last;
  return lastingOf(lastDay, symbols, now - prices.delayMs);
}

function readInterval(query: Query): Interval {
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
function readPage(reading: Generator<DayRange, Page>, past: LedgerReads | undefined): Soon<Page> {
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
  symbols: readonly AskedSymbol[],
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
