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
import { sourceIdsOf } from '../response/json.ts';

/** The closes of a series in a range of days, with their statistics. */
export interface DescribedCloses {
  closes: CloseSeries;
  statistics: Statistics;
  sourceIds: readonly number[];
}

export function describeCloses(series: Series, prices: Prices, { first, last }: DayRange): DescribedCloses {
  const bars = prices.bars(series, first, last);
  const closes = closeSeries(bars);
  const { decimals, updateInterval } = series.symbol;
  const digits = { decimals, isConverted: bars.some(isConverted) };
  return {
    closes,
    statistics: statisticsOf(closes, digits, RETURNS_PER_YEAR[updateInterval]),
    sourceIds: sourceIdsOf(bars),
  };
}
