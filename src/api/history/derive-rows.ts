import type { SourcedBar } from '../../board/series/price-types.ts';
import type { Series } from '../../board/series/series.ts';
import type { Prices } from '../../board/views/prices.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import { Closes, type IntervalClose, rowsBack } from '../../market/analytics/closes.ts';
import { type Day, EARLIEST_DAY } from '../../market/day.ts';
import { type Interval, intervalStart, laterInterval } from '../../market/interval.ts';
import { Refusal } from '../errors/errors.ts';
import { FORMULA_DAYS_PER_STEP } from '../model/large-answer.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import type { Cursor } from '../params/cursor.ts';
import type { IntervalRow, Span } from './interval-rows.ts';
import type { PriceReading } from './price-reading.ts';

/** Adds what a span derives from closes to its rows, which must come in order. */
export class RowDeriver {
  readonly #closes: readonly Closes[];

  private constructor(closes: readonly Closes[]) {
    this.#closes = closes;
  }

  /** Starts at a cursor, with the closes of the rows before it; undefined if nothing is derived. */
  static *at(
    from: Cursor,
    symbols: readonly RequestedSymbol[],
    prices: Prices,
    span: Span,
  ): PriceReading<RowDeriver | undefined> {
    const { derivation, interval } = span;
    if (!derivation) return undefined;
    const isFirst = from.day <= intervalStart(interval, span.first) && from.symbolIndex === 0;
    const bases =
      derivation.transform === 'index' && !isFirst ? yield* firstCloses(symbols, prices, span) : [];
    const earlier = yield* closesBefore(from, symbols, prices, span, rowsBack(derivation));
    const closes = symbols.map(({ series }, i) => {
      const own = new Closes(derivation, interval, series.symbol.decimals, bases[i]);
      for (const row of earlier[i]!) own.add(row);
      return own;
    });
    return new RowDeriver(closes);
  }

  derive(rows: readonly IntervalRow[]): void {
    for (const row of rows) {
      const closes = this.#closes[row.symbolIndex]!;
      closes.add(row);
      row.transformed = closes.transformed();
      row.movingAverage = closes.movingAverage();
    }
  }
}

/** Days that are read first, and twice as many each time they are not enough. */
const DAYS_FIRST = 40;

/** The closes of the last rows before a cursor, of each symbol, ascending. */
function* closesBefore(
  from: Cursor,
  symbols: readonly RequestedSymbol[],
  prices: Prices,
  span: Span,
  count: number,
): PriceReading<IntervalClose[][]> {
  if (count === 0) return symbols.map(() => []);
  const { interval } = span;
  const end = Math.min(span.last, laterInterval(interval, from.day, 1) - 1);
  const start = Math.max(span.first, from.day);
  for (let days = 2 * (from.day - laterInterval(interval, from.day, -count)) + DAYS_FIRST; ; days *= 2) {
    const first = Math.max(EARLIEST_DAY, from.day - days);
    yield { first, last: end };
    const found: IntervalClose[][] = [];
    for (const [i, { series }] of symbols.entries()) {
      // A symbol before the cursor has already had its row of the cursor's interval. One without a price in the rest of
      // the interval has none: then the price before the range is the close of the interval.
      const hasRow = i >= from.symbolIndex && hasBar(prices, series, start, end);
      const days = { first, last: hasRow ? from.day - 1 : end };
      found.push(yield* closesIn(prices, series, days, interval, count));
      yield undefined;
    }
    const isComplete = ({ series }: RequestedSymbol, i: number) =>
      found[i]!.length === count || first <= (prices.firstDay(series) ?? first);
    if (symbols.every(isComplete)) return found;
  }
}

/** The last `count` closes of some days, ascending. It stops where a price cannot be converted. */
function* closesIn(
  prices: Prices,
  series: Series,
  { first, last }: DayRange,
  interval: Interval,
  count: number,
): PriceReading<IntervalClose[]> {
  const closes: IntervalClose[] = [];
  const earliest = Math.max(first, prices.firstDay(series) ?? Number.POSITIVE_INFINITY);
  for (let day = last; closes.length < count && day >= earliest; ) {
    const stepFirst = Math.max(earliest, day - FORMULA_DAYS_PER_STEP + 1);
    const bar = barOnOrBefore(prices, series, day, stepFirst);
    if (bar === 'not convertible') break;
    if (bar) {
      const start = intervalStart(interval, bar.day);
      closes.push({ day: start, close: bar.close, factor: bar.factor });
      day = start - 1;
      if (closes.length % FORMULA_DAYS_PER_STEP === 0) yield undefined;
    } else {
      day = stepFirst - 1;
      yield undefined;
    }
  }
  return closes.reverse();
}

function hasBar(prices: Prices, series: Series, first: Day, last: Day): boolean {
  const bar = barOnOrBefore(prices, series, last, first);
  return bar !== undefined && bar !== 'not convertible';
}

function barOnOrBefore(prices: Prices, series: Series, day: Day, earliest: Day) {
  try {
    return prices.barOnOrBefore(series, day, earliest);
  } catch (error) {
    if (error instanceof Refusal) return 'not convertible'; // no exchange rate that early
    throw error;
  }
}

/** The close of each symbol's first row of a span; undefined if it has none. */
function* firstCloses(
  symbols: readonly RequestedSymbol[],
  prices: Prices,
  span: Span,
): PriceReading<(number | undefined)[]> {
  const closes: (number | undefined)[] = [];
  for (const { series } of symbols) closes.push(yield* firstClose(series, prices, span));
  return closes;
}

function* firstClose(series: Series, prices: Prices, span: Span): PriceReading<number | undefined> {
  const { interval, last } = span;
  let first = Math.max(span.first, prices.firstDay(series) ?? Number.POSITIVE_INFINITY);
  for (let days = DAYS_FIRST; first <= last; days *= 2) {
    const end = Math.min(last, first + days);
    yield { first, last: end };
    const bar = yield* firstBar(series, prices, { first, last: end });
    if (bar) {
      const range = { first: bar.day, last: Math.min(last, laterInterval(interval, bar.day, 1) - 1) };
      yield range;
      return prices.barOnOrBefore(series, range.last, range.first)!.close;
    }
    first = end + 1;
  }
  return undefined;
}

function* firstBar(
  series: Series,
  prices: Prices,
  { first, last }: DayRange,
): PriceReading<SourcedBar | undefined> {
  for (let day = first; day <= last; day += FORMULA_DAYS_PER_STEP) {
    const [bar] = prices.bars(series, day, Math.min(last, day + FORMULA_DAYS_PER_STEP - 1));
    if (bar) return bar;
    yield undefined;
  }
  return undefined;
}
