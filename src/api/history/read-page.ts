import type { Prices } from '../../board/views/prices.ts';
import type { Day } from '../../market/day.ts';
import { laterInterval } from '../../market/interval.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { LedgerReads } from '../model/endpoint.ts';
import { ROWS_PER_UNIT } from '../model/long-table.ts';
import type { MaybeAsync } from '../model/maybe-async.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import type { Cursor } from '../params/cursor.ts';
import { RowDeriver } from './derive-rows.ts';
import { type IntervalRow, piecesOf, type Span, windowsFrom } from './interval-rows.ts';
import { PAGE_BARS_MAX } from './page-plan.ts';
import { finish, type PriceReading } from './price-reading.ts';

/** The rows of a page of history, and where the next page starts. */
export interface PageRows {
  rows: IntervalRow[];
  next: Cursor | undefined;
}

/** Reads a page that starts at a cursor. Synchronous for prices in memory; with `past`, it loads days before it reads them. */
export function readPage(
  from: Cursor,
  symbols: readonly RequestedSymbol[],
  prices: Prices,
  span: Span,
  past: LedgerReads | undefined,
): MaybeAsync<PageRows> {
  const reading = pageRows(from, symbols, prices, span);
  return past ? loadPage(reading, past) : finish(reading);
}

async function loadPage(reading: PriceReading<PageRows>, past: LedgerReads): Promise<PageRows> {
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
    if (step.value) await past.load(step.value);
    else if (shouldYield()) await yieldToRequests();
  }
}

/** Intervals to load at once, if they are longer than a day. */
const INTERVALS_PER_LOAD = 4;

/** Returns a page. Yields each range of days before it reads from it. */
function* pageRows(
  from: Cursor,
  symbols: readonly RequestedSymbol[],
  prices: Prices,
  span: Span,
): PriceReading<PageRows> {
  const { interval, last, keepsDatesWhole = false } = span;
  const rowsMax = keepsDatesWhole ? Math.max(ROWS_PER_UNIT, symbols.length) : ROWS_PER_UNIT;
  const deriver = yield* RowDeriver.at(from, symbols, prices, span);
  const ahead = interval === 'day' ? Math.ceil(ROWS_PER_UNIT / symbols.length) + 1 : INTERVALS_PER_LOAD;
  const rows: IntervalRow[] = [];
  let bars = 0;
  let loadedTo = Number.NEGATIVE_INFINITY;
  for (const window of windowsFrom(from, symbols, prices, span)) {
    if (window.last > loadedTo) {
      loadedTo = Math.max(window.last, Math.min(last, laterInterval(interval, window.start, ahead) - 1));
      yield { first: window.first, last: loadedTo };
    } else yield;
    for (const piece of piecesOf(window, from, symbols, prices, interval)) {
      deriver?.derive(piece.rows);
      rows.push(...piece.rows);
      bars += piece.bars;
      const next = rows[rowsMax];
      if (next) return keepsDatesWhole ? beforeDate(next.day, rows) : beforeRow(next, rows.slice(0, rowsMax));
      if (bars >= PAGE_BARS_MAX && !(keepsDatesWhole && piece.next.symbolIndex > 0))
        return { rows, next: piece.next.day <= last ? piece.next : undefined };
    }
  }
  return { rows, next: undefined };
}

function beforeRow({ day, symbolIndex }: IntervalRow, rows: IntervalRow[]): PageRows {
  return { rows, next: { day, symbolIndex } };
}

/** A page has room for all rows of a date, so at least one date is left. */
function beforeDate(day: Day, rows: readonly IntervalRow[]): PageRows {
  return { rows: rows.filter((row) => row.day < day), next: { day, symbolIndex: 0 } };
}
