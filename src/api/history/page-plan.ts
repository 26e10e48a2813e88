import type { FrozenPrices } from '../../board/views/prices.ts';
import type { Day } from '../../market/day.ts';
import { type Interval, intervalStart, laterInterval } from '../../market/interval.ts';
import { ROWS_PER_UNIT } from '../model/long-table.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import type { Cursor } from '../params/cursor.ts';
import {
  byDayAndSymbol,
  groupsOf,
  type IntervalWindow,
  isFrom,
  type Span,
  type SymbolGroup,
  windowsFrom,
} from './interval-rows.ts';

/** A page ends after this many bars, however few rows they fold into. This limits the work per unit. */
export const PAGE_BARS_MAX = 50_000;

/** The extent of a page of history. */
export interface PagePlan {
  rows: number;
  /** Number of bars it reads. */
  bars: number;
  /** It reads no bar after this day. */
  last: Day;
  next: Cursor | undefined;
}

/** Finds the end of a page from the days of its bars, without folding any. */
export function planPage(
  from: Cursor,
  symbols: readonly RequestedSymbol[],
  prices: FrozenPrices,
  span: Span,
): PagePlan {
  let rows = 0;
  let bars = 0;
  for (const window of windowsFrom(from, symbols, prices, span)) {
    const { last } = window;
    for (const group of groupsOf(window, from, symbols.length, span.interval)) {
      const found = rowsIn(group, window, symbols, prices, span.interval);
      const pageRows = window.start <= from.day ? found.rows.filter((row) => isFrom(from, row)) : found.rows;
      bars += found.bars;
      const next = pageRows[ROWS_PER_UNIT - rows];
      if (next) return { rows: ROWS_PER_UNIT, bars, last, next };
      rows += pageRows.length;
      if (bars >= PAGE_BARS_MAX) {
        return { rows, bars, last, next: group.next.day <= span.last ? group.next : undefined };
      }
    }
  }
  return { rows, bars, last: span.last, next: undefined };
}

/** The positions of a group's rows, in order, and the number of bars they are folded from. */
function rowsIn(
  group: SymbolGroup,
  { first, last }: IntervalWindow,
  symbols: readonly RequestedSymbol[],
  prices: FrozenPrices,
  interval: Interval,
): { rows: Cursor[]; bars: number } {
  const rows: Cursor[] = [];
  let bars = 0;
  for (let symbolIndex = group.start; symbolIndex < group.end; symbolIndex++) {
    const days = prices.days(symbols[symbolIndex]!.series, first, last);
    bars += days.length;
    let end = Number.NEGATIVE_INFINITY; // of the current interval
    for (const day of days) {
      if (day < end) continue;
      end = laterInterval(interval, day, 1);
      rows.push({ day: intervalStart(interval, day), symbolIndex });
      if (end > last) break;
    }
  }
  return { rows: rows.sort(byDayAndSymbol), bars };
}
