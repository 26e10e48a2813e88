import { FormulaSeries } from '../../board/series/formula-series.ts';
import type { SourcedBar } from '../../board/series/price-types.ts';
import type { Series } from '../../board/series/series.ts';
import type { Prices } from '../../board/views/prices.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import { isConverted } from '../../market/analytics/mean.ts';
import {
  type CloseSeries,
  closeSeries,
  correlation,
  RETURNS_PER_YEAR,
  type Statistics,
  statisticsOf,
} from '../../market/analytics/statistics.ts';
import { FORMULA_DAYS_PER_STEP } from '../model/large-answer.ts';
import { sourceIdsOf } from '../response/json.ts';
import type { PriceReading } from './price-reading.ts';

/** The closes of a series in a range of days, with their statistics. */
export interface DescribedCloses {
  closes: CloseSeries;
  statistics: Statistics;
  sourceIds: readonly number[];
}

export function* describeCloses(
  series: Series,
  prices: Prices,
  days: DayRange,
): PriceReading<DescribedCloses> {
  const bars = yield* barsOf(series, prices, days);
  const closes = closeSeries(bars);
  yield undefined;
  const { decimals, updateInterval } = series.symbol;
  const digits = { decimals, isConverted: bars.some(isConverted) };
  return {
    closes,
    statistics: statisticsOf(closes, digits, RETURNS_PER_YEAR[updateInterval]),
    sourceIds: sourceIdsOf(bars),
  };
}

/** The correlation of each series with each of them. The matrix is symmetric, so each pair is computed once. */
export function* correlate(
  described: readonly Pick<DescribedCloses, 'closes'>[],
): PriceReading<(number | undefined)[][]> {
  const rows: (number | undefined)[][] = [];
  for (const [i, { closes }] of described.entries()) {
    const row: (number | undefined)[] = [];
    for (const [j, other] of described.entries()) {
      row.push(j < i ? rows[j]![i] : correlation(closes, other.closes));
      yield undefined;
    }
    rows.push(row);
  }
  return rows;
}

/** Whether a series has a close on any of the days. */
export function* hasClose(series: Series, prices: Prices, days: DayRange): PriceReading<boolean> {
  const all = series instanceof FormulaSeries ? formulaSteps(series, prices, days) : [days];
  for (const { first, last } of all.reverse()) {
    if (prices.barOnOrBefore(series, last, first)) return true;
    yield undefined;
  }
  return false;
}

function* barsOf(series: Series, prices: Prices, days: DayRange): PriceReading<SourcedBar[]> {
  const bars: SourcedBar[] = [];
  const isFormula = series instanceof FormulaSeries;
  for (const { first, last } of isFormula ? formulaSteps(series, prices, days) : steps(days, DAYS_PER_STEP)) {
    for (const bar of prices.bars(series, first, last)) bars.push(bar);
    yield undefined;
  }
  return bars;
}

/** Days of symbols that are read without a pause: a converted bar takes 3 µs. */
const DAYS_PER_STEP = 1_000;

/** A formula has no value before the first day of its prices. */
function formulaSteps(series: FormulaSeries, prices: Prices, { first, last }: DayRange): DayRange[] {
  const begin = Math.max(first, prices.firstDay(series) ?? Number.POSITIVE_INFINITY);
  return steps({ first: begin, last }, FORMULA_DAYS_PER_STEP);
}

function steps({ first, last }: DayRange, days: number): DayRange[] {
  const found: DayRange[] = [];
  for (let day = first; day <= last; day += days) {
    found.push({ first: day, last: Math.min(last, day + days - 1) });
  }
  return found;
}
