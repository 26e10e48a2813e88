import type { IntervalBar, Prices } from '../../board/prices.ts';
import type { Day } from '../../market/day.ts';
import { type Interval, intervalStart, laterInterval } from '../../market/interval.ts';
import type { Cursor } from '../params/cursor.ts';
import type { AskedSymbol } from '../params/symbol-set.ts';
import { foldSeries } from './interval-fold.ts';

/** One interval of one symbol, which is known by its place in the request. */
export interface IntervalRow extends IntervalBar {
  place: number;
}

/** Some rows in order, how many bars were folded to them, and where the next rows begin. */
export interface Piece {
  rows: IntervalRow[];
  bars: number;
  next: Cursor;
}

export interface Span {
  first: Day;
  last: Day;
  interval: Interval;
}

/** A piece takes about half a millisecond. */
const BARS_PER_PIECE = 500;

/** How many bars an interval of a daily series has. */
const BARS_PER_INTERVAL: Readonly<Record<Interval, number>> = {
  day: 1,
  week: 5,
  month: 22,
  quarter: 65,
  year: 260,
};

/** Consecutive intervals that are read together. */
export interface Window {
  /** The first interval begins here, and the one after the last here. */
  start: Day;
  end: Day;
  /** The days of the span in them. */
  first: Day;
  last: Day;
  /** Whether it is one interval, and not several. */
  isSingle: boolean;
}

/** Symbols whose rows of a window are read together: from `place` up to `end`. The next rows begin at `next`. */
export interface Group {
  place: number;
  end: number;
  next: Cursor;
}

/** The rows of a span from a place on, by date and then in the order of symbols. */
export function* intervalPieces(
  from: Cursor,
  symbols: readonly AskedSymbol[],
  prices: Prices,
  span: Span,
): Generator<Piece> {
  for (const window of windowsFrom(from, symbols, prices, span)) {
    yield* piecesOf(window, from, symbols, prices, span.interval);
  }
}

/** Cuts a span into windows that are cheap to read however many symbols there are. */
export function* windowsFrom(
  from: Cursor,
  symbols: readonly AskedSymbol[],
  prices: Prices,
  { first, last, interval }: Span,
): Generator<Window> {
  const firstDays = symbols.map(({ series }) => prices.firstDay(series) ?? Number.POSITIVE_INFINITY);
  const barsPerInterval = symbols.length * BARS_PER_INTERVAL[interval];
  const intervals = Math.max(1, Math.floor(BARS_PER_PIECE / barsPerInterval));
  let day = Math.max(from.day, Math.min(...firstDays));
  while (day <= last) {
    const start = intervalStart(interval, day);
    const end = laterInterval(interval, start, intervals);
    const isSingle = intervals === 1;
    yield { start, end, first: Math.max(first, start), last: Math.min(last, end - 1), isSingle };
    day = end;
  }
}

/**
 * Cuts the symbols of a window into groups, so that one interval of many symbols comes in several pieces. Symbols before
 * the cursor's place have had their rows of its interval.
 */
export function* groupsOf(
  { start, end, isSingle }: Window,
  from: Cursor,
  symbolCount: number,
  interval: Interval,
): Generator<Group> {
  const size = Math.ceil(BARS_PER_PIECE / BARS_PER_INTERVAL[interval]);
  const first = isSingle && start === from.day ? from.place : 0;
  for (let place = first; place < symbolCount; place += size) {
    const groupEnd = Math.min(place + size, symbolCount);
    const next = groupEnd < symbolCount ? { day: start, place: groupEnd } : { day: end, place: 0 };
    yield { place, end: groupEnd, next };
  }
}

/** The rows of a window from a place on. */
export function* piecesOf(
  window: Window,
  from: Cursor,
  symbols: readonly AskedSymbol[],
  prices: Prices,
  interval: Interval,
): Generator<Piece> {
  for (const group of groupsOf(window, from, symbols.length, interval)) {
    const { rows, bars } = foldGroup(group, symbols, prices, window, interval);
    yield {
      rows: window.start <= from.day ? rows.filter((row) => isFrom(from, row)) : rows,
      bars,
      next: group.next,
    };
  }
}

function foldGroup(
  { place: firstPlace, end }: Group,
  symbols: readonly AskedSymbol[],
  prices: Prices,
  { first, last }: Window,
  interval: Interval,
): Pick<Piece, 'rows' | 'bars'> {
  const rows: IntervalRow[] = [];
  let bars = 0;
  for (let place = firstPlace; place < end; place++) {
    for (const bar of foldSeries(prices, symbols[place]!.series, first, last, interval)) {
      bars += bar.bars;
      rows.push(Object.assign(bar, { place }));
    }
  }
  if (end - firstPlace > 1) rows.sort(byDayAndPlace);
  return { rows, bars };
}

/** The order of rows. */
export function byDayAndPlace(a: Cursor, b: Cursor): number {
  return a.day - b.day || a.place - b.place;
}

/** Whether a row lies at a place or after it. */
export function isFrom(from: Cursor, row: Cursor): boolean {
  return byDayAndPlace(row, from) >= 0;
}
