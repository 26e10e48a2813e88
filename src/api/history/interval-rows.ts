import type { IntervalBar } from '../../board/series/price-types.ts';
import type { Series } from '../../board/series/series.ts';
import type { Prices } from '../../board/views/prices.ts';
import type { Derivation } from '../../market/analytics/closes.ts';
import { type Day, printDay } from '../../market/day.ts';
import { type Interval, intervalStart, laterInterval } from '../../market/interval.ts';
import { printInstant } from '../../market/intraday/instant.ts';
import { foldPlain } from '../conversion/fold-plain.ts';
import { FORMULA_DAYS_PER_STEP } from '../model/large-answer.ts';
import { hasFormulas, type RequestedSymbol } from '../model/price-query.ts';
import type { Cursor } from '../params/cursor.ts';

/** One interval of one symbol. `symbolIndex` is its position in the request. */
export interface IntervalRow extends IntervalBar {
  symbolIndex: number;
  /** The start of an interval shorter than a day, in ms. */
  at?: number;
  /** Set if the request asks for a transform or a moving average, and the row has one. */
  transformed?: string | undefined;
  movingAverage?: number | undefined;
}

/** `2026-07-15`, or `2026-07-15T14:30:00Z` for an interval shorter than a day. */
export function printStart({ day, at }: Pick<IntervalRow, 'day' | 'at'>): string {
  return at === undefined ? printDay(day) : printInstant(at);
}

/** Consecutive rows, the number of bars they were folded from, and where the next rows start. */
export interface Piece {
  rows: IntervalRow[];
  bars: number;
  next: Cursor;
}

export interface Span {
  first: Day;
  last: Day;
  interval: Interval;
  derivation?: Derivation | undefined;
  /** Whether all rows of a date must be on the same page. */
  keepsDatesWhole?: boolean;
}

/** Makes a piece take about half a millisecond, unless it has formulas. */
const BARS_PER_PIECE = 500;

/** Typical number of bars per interval of a daily series. */
const BARS_PER_INTERVAL: Readonly<Record<Interval, number>> = {
  day: 1,
  week: 5,
  month: 22,
  quarter: 65,
  year: 260,
};

/** Consecutive intervals that are read together. */
export interface IntervalWindow {
  /** Start of the first interval. */
  start: Day;
  /** End of the last interval, exclusive. */
  end: Day;
  /** The part of the span that lies in the window. */
  first: Day;
  last: Day;
  /** Whether it consists of a single interval. */
  isSingle: boolean;
  /** About how many bars are read at once. */
  barsPerPiece: number;
}

/** Symbols of a window that are read together. */
export interface SymbolGroup {
  /** Index of the first symbol. */
  start: number;
  /** Index after the last symbol. */
  end: number;
  /** Where the rows after the group start. */
  next: Cursor;
}

/** Splits a span into windows that are cheap to read, regardless of the number of symbols and of when their histories begin. */
export function* windowsFrom(
  from: Cursor,
  symbols: readonly RequestedSymbol[],
  prices: Prices,
  { first, last, interval }: Span,
  barsPerPiece = hasFormulas(symbols) ? FORMULA_DAYS_PER_STEP : BARS_PER_PIECE,
): Generator<IntervalWindow> {
  const firstDays = symbols.map(({ series }) => prices.firstDay(series) ?? Number.POSITIVE_INFINITY);
  firstDays.sort((a, b) => a - b);
  const rowsMax = Math.floor(barsPerPiece / BARS_PER_INTERVAL[interval]);
  let day = Math.max(from.day, firstDays[0]!);
  while (day <= last) {
    const start = intervalStart(interval, day);
    const intervals = intervalsFrom(start, firstDays, interval, rowsMax);
    const end = laterInterval(interval, start, intervals);
    const isSingle = intervals === 1;
    const days = { first: Math.max(first, start), last: Math.min(last, end - 1) };
    yield { start, end, ...days, isSingle, barsPerPiece };
    day = end;
  }
}

/**
 * The number of intervals that have at most `rowsMax` rows, but at least one. Symbols whose history has not begun have none: a long range
 * may have few symbols for decades.
 */
function intervalsFrom(start: Day, firstDays: readonly Day[], interval: Interval, rowsMax: number): number {
  const rowsOf = (intervals: number) =>
    intervals * begunBefore(laterInterval(interval, start, intervals), firstDays);
  let intervals = Math.floor(rowsMax / begunBefore(laterInterval(interval, start, 1), firstDays));
  while (intervals > 1 && rowsOf(intervals) > rowsMax) intervals = Math.floor(intervals / 2);
  return Math.max(1, intervals);
}

/** The number of symbols whose first day is before a day. */
function begunBefore(day: Day, firstDays: readonly Day[]): number {
  const begun = firstDays.findIndex((first) => first >= day);
  return begun < 0 ? firstDays.length : begun;
}

/**
 * Splits the symbols of a window into groups, so that one interval of many symbols is read in several pieces. In the
 * cursor's own interval, the symbols before the cursor are skipped.
 */
export function* groupsOf(
  { start, end, isSingle, barsPerPiece }: IntervalWindow,
  from: Cursor,
  symbolCount: number,
  interval: Interval,
): Generator<SymbolGroup> {
  const size = Math.ceil(barsPerPiece / BARS_PER_INTERVAL[interval]);
  const first = isSingle && start === from.day ? from.symbolIndex : 0;
  for (let symbolIndex = first; symbolIndex < symbolCount; symbolIndex += size) {
    const groupEnd = Math.min(symbolIndex + size, symbolCount);
    const next =
      groupEnd < symbolCount ? { day: start, symbolIndex: groupEnd } : { day: end, symbolIndex: 0 };
    yield { start: symbolIndex, end: groupEnd, next };
  }
}

/** The rows of a window, starting at a cursor. */
export function* piecesOf(
  window: IntervalWindow,
  from: Cursor,
  symbols: readonly RequestedSymbol[],
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
  { start: firstIndex, end }: SymbolGroup,
  symbols: readonly RequestedSymbol[],
  prices: Prices,
  { first, last }: IntervalWindow,
  interval: Interval,
): Pick<Piece, 'rows' | 'bars'> {
  const rows: IntervalRow[] = [];
  let bars = 0;
  for (let symbolIndex = firstIndex; symbolIndex < end; symbolIndex++) {
    for (const bar of foldSeries(prices, symbols[symbolIndex]!.series, first, last, interval)) {
      bars += bar.bars;
      rows.push(Object.assign(bar, { symbolIndex }));
    }
  }
  if (end - firstIndex > 1) rows.sort(byDayAndSymbol);
  return { rows, bars };
}

/** Compares rows by their order in the response. */
export function byDayAndSymbol(a: Cursor, b: Cursor): number {
  return a.day - b.day || a.symbolIndex - b.symbolIndex;
}

/** Whether a row is at or after a cursor. */
export function isFrom(from: Cursor, row: Cursor): boolean {
  return byDayAndSymbol(row, from) >= 0;
}

/** The bars of a series from `first` to `last`, folded by interval. */
function foldSeries(
  prices: Prices,
  series: Series,
  first: Day,
  last: Day,
  interval: Interval,
): IntervalBar[] {
  if (prices.fold) return prices.fold(series, first, last, interval);
  return foldPlain(prices.bars(series, first, last), interval, series.symbol.decimals);
}
