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
import { sourceIdsOfAll } from '../response/json.ts';

/** The closes of a series in some days, and what they say. */
export interface Described {
  closes: CloseSeries;
  statistics: Statistics;
  sourceIds: readonly number[];
}

export function describe(series: Series, prices: Prices, { first, last }: DayRange): Described {
  const bars = prices.bars(series, first, last);
  const closes = closeSeries(bars);
  const { decimals, updateInterval } = series.symbol;
  const digits = { decimals, isConverted: bars.some(isConverted) };
  return {
    closes,
    statistics: statisticsOf(closes, digits, RETURNS_PER_YEAR[updateInterval]),
    sourceIds: sourceIdsOfAll(bars),
  };
}
