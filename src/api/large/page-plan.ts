import type { FrozenPrices } from '../../board/prices.ts';
import type { Day } from '../../market/day.ts';
import { intervalStart, laterInterval } from '../../market/interval.ts';
import {
  byDayAndPlace,
  type Group,
  groupsOf,
  isFrom,
  type Span,
  type Window,
  windowsFrom,
} from '../download/interval-rows.ts';
import { ROWS_PER_UNIT } from '../download/long-table.ts';
import type { Cursor } from '../params/cursor.ts';
import type { AskedSymbol } from '../params/symbol-set.ts';

/** After this many bars a page ends, however few rows they fold to. It bounds what a unit buys. */
export const PAGE_BARS_MAX = 50_000;

/** How far a page of history goes. */
export interface PagePlan {
  rows: number;
  /** How many bars are read for it. */
  bars: number;
  /** No bar after this day is read for it. */
  last: Day;
  next: Cursor | undefined;
}

/** Finds where a page ends from the days of its bars, without folding any. */
export function planPage(
  from: Cursor,
  symbols: readonly AskedSymbol[],
  prices: FrozenPrices,
  span: Span,
): PagePlan {
  let rows = 0;
  let bars = 0;
  for (const window of windowsFrom(from, symbols, prices, span)) {
    const { last } = window;
    for (const group of groupsOf(window, from, symbols.length, span.interval)) {
      const found = rowsIn(group, window, from, symbols, prices, span);
      bars += found.bars;
      const over = found.rows[ROWS_PER_UNIT - rows];
      if (over) return { rows: ROWS_PER_UNIT, bars, last, next: over };
      rows += found.rows.length;
      if (bars >= PAGE_BARS_MAX) {
        return { rows, bars, last, next: group.next.day <= span.last ? group.next : undefined };
      }
    }
  }
  return { rows, bars, last: span.last, next: undefined };
}

/** Where the rows of a group stand, in order. */
function rowsIn(
  group: Group,
  { start, first, last }: Window,
  from: Cursor,
  symbols: readonly AskedSymbol[],
  prices: FrozenPrices,
  { interval }: Span,
): { rows: Cursor[]; bars: number } {
  let rows: Cursor[] = [];
  let bars = 0;
  for (let place = group.place; place < group.end; place++) {
    const days = prices.days(symbols[place]!.series, first, last);
    bars += days.length;
    let end = Number.NEGATIVE_INFINITY; // of the running interval
    for (const day of days) {
      if (day < end) continue;
      end = laterInterval(interval, day, 1);
      rows.push({ day: intervalStart(interval, day), place });
      if (end > last) break;
    }
  }
  if (start <= from.day) rows = rows.filter((row) => isFrom(from, row));
  return { rows: rows.sort(byDayAndPlace), bars };
}
