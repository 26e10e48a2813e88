import { FormulaSeries } from '../../board/series/formula-series.ts';
import type { SourcedBar } from '../../board/series/price-types.ts';
import type { Series } from '../../board/series/series.ts';
import type { Prices } from '../../board/views/prices.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import { isConverted } from '../../market/analytics/mean.ts';
import {
  type CloseSeries,
  closeSeries,
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
  const { decimals, updateInterval } = series.symbol;
  const digits = { decimals, isConverted: bars.some(isConverted) };
  return {
    closes,
    statistics: statisticsOf(closes, digits, RETURNS_PER_YEAR[updateInterval]),
    sourceIds: sourceIdsOf(bars),
  };
}

/** Whether a series has a close on any of the days. */
export function* hasClose(series: Series, prices: Prices, days: DayRange): PriceReading<boolean> {
  for (const { first, last } of steps(series, prices, days).reverse()) {
    if (prices.barOnOrBefore(series, last, first)) return true;
    yield undefined;
  }
  return false;
}

function* barsOf(series: Series, prices: Prices, days: DayRange): PriceReading<SourcedBar[]> {
  const bars: SourcedBar[] = [];
  for (const { first, last } of steps(series, prices, days)) {
    for (const bar of prices.bars(series, first, last)) bars.push(bar);
    yield undefined;
  }
  return bars;
}

/** The days in the parts that are read without a pause. Only the bars of formulas take long. */
function steps(series: Series, prices: Prices, { first, last }: DayRange): DayRange[] {
  if (!(series instanceof FormulaSeries)) return [{ first, last }];
  const found: DayRange[] = [];
  const begin = Math.max(first, prices.firstDay(series) ?? Number.POSITIVE_INFINITY);
  for (let day = begin; day <= last; day += FORMULA_DAYS_PER_STEP) {
    found.push({ first: day, last: Math.min(last, day + FORMULA_DAYS_PER_STEP - 1) });
  }
  return found;
}
