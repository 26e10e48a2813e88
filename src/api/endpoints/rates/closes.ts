import type { SourcedBar } from '../../../board/series/price-types.ts';
import type { Prices } from '../../../board/views/prices.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { LOOK_BACK_DAYS } from '../../../market/symbol.ts';
import { refuse } from '../../errors/errors.ts';
import type { Reading } from '../../model/endpoint.ts';
import type { RequestedSymbol } from '../../params/symbol-set.ts';

/** What a point-in-time read loads for the closes of these days. */
export function closesOn(days: readonly Day[]): Reading {
  return { ranges: days.map((day) => ({ first: day, last: day })), looksBack: true };
}

/**
 * The bar that stands for a day: its own, or on a closed day the last one before it, not too far back. Refused with
 * the name of every symbol that has none.
 */
export function barsFor(symbols: readonly RequestedSymbol[], day: Day, prices: Prices): SourcedBar[] {
  const bars: SourcedBar[] = [];
  const missing: RequestedSymbol[] = [];
  for (const asked of symbols) {
    const earliest = day - LOOK_BACK_DAYS[asked.series.symbol.updateInterval];
    const bar = prices.barOnOrBefore(asked.series, day, earliest);
    if (bar) bars.push(bar);
    else missing.push(asked);
  }
  if (missing.length > 0) {
    throw refuse('no_data', {
      date: printDay(day),
      missing: missing.map(({ code, series }) => {
        const first = prices.firstDay(series);
        return { code, firstDate: first === undefined ? undefined : printDay(first) };
      }),
    });
  }
  return bars;
}
