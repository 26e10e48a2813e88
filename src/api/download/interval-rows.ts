import type { SourcedBar } from '../../board/columns.ts';
import type { Prices } from '../../board/prices.ts';
import type { Day } from '../../market/day.ts';
import {
  type FoldedBar,
  foldBars,
  type Interval,
  intervalStart,
  laterInterval,
} from '../../market/interval.ts';
import type { AskedSymbol } from '../basket.ts';
import type { Cursor } from '../paging.ts';

/** One interval of one symbol, which is known by its place in the request. */
export interface IntervalRow extends FoldedBar<SourcedBar> {
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
    yield { start, end, first: Math.max(first, start), last: Math.min(last, end - 1) };
    day = end;
  }
}

/** The rows of a window from a place on. One interval of too many symbols comes in several pieces. */
export function* piecesOf(
  { start, end, first, last }: Window,
  from: Cursor,
  symbols: readonly AskedSymbol[],
  prices: Prices,
  interval: Interval,
): Generator<Piece> {
  const groupSize = Math.ceil(BARS_PER_PIECE / BARS_PER_INTERVAL[interval]);
  for (let place = 0; place < symbols.length; place += groupSize) {
    const nextPlace = place + groupSize;
    const { rows, bars } = foldGroup(
      symbols.slice(place, nextPlace),
      place,
      prices,
      { first, last },
      interval,
    );
    yield {
      rows: start <= from.day ? rows.filter((row) => isFrom(from, row)) : rows,
      bars,
      next: nextPlace < symbols.length ? { day: start, place: nextPlace } : { day: end, place: 0 },
    };
  }
}

function foldGroup(
  group: readonly AskedSymbol[],
  firstPlace: number,
  prices: Prices,
  { first, last }: { first: Day; last: Day },
  interval: Interval,
): Pick<Piece, 'rows' | 'bars'> {
  const rows: IntervalRow[] = [];
  let bars = 0;
  group.forEach(({ series }, i) => {
    const own = prices.bars(series, first, last);
    bars += own.length;
    const place = firstPlace + i;
    for (const bar of foldBars(own, interval)) rows.push(Object.assign(bar, { place }));
  });
  if (group.length > 1) rows.sort((a, b) => a.day - b.day || a.place - b.place);
  return { rows, bars };
}

function isFrom(from: Cursor, { day, place }: IntervalRow): boolean {
  return day > from.day || (day === from.day && place >= from.place);
}
