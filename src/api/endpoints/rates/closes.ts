import type { SourcedBar } from '../../../board/series/price-types.ts';
import type { Series } from '../../../board/series/series.ts';
import type { Prices } from '../../../board/views/prices.ts';
import type { View } from '../../../board/views/view.ts';
import type { DayRange } from '../../../ledger/prices/past.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { LOOK_BACK_DAYS } from '../../../market/symbol.ts';
import { NO_DATA_SHOWN, type NoData } from '../../errors/error-details.ts';
import { refuse } from '../../errors/errors.ts';
import { type KnownDays, knownDays } from '../../formulas/formula-days.ts';
import { symbolSeriesOf } from '../../formulas/formula-parts.ts';
import type { RequiredDays } from '../../model/endpoint.ts';
import type { RequestedSymbol } from '../../model/price-query.ts';

/**
 * The days that a point-in-time request loads for the closes of these days. A daily symbol in a formula with a monthly one
 * is read as far back as the formula looks, so all symbols are read as far back as any of them.
 */
export function closesOn(days: readonly Day[], symbols: readonly RequestedSymbol[]): RequiredDays {
  const ranges = days.map((day) => ({ first: day, last: day }));
  return { ranges, lookBackDays: Math.max(...symbols.map(lookBackDaysOf)) };
}

/** Warnings for the symbols that a range has no prices of, which may look like a failure. */
export function rangeWarnings(
  symbols: readonly RequestedSymbol[],
  range: DayRange,
  prices: Prices,
): string[] {
  return extentWarnings(symbols, { ...range, name: 'range' }, (series) => {
    const [first, last] = [prices.firstDay(series), prices.lastDay(series)];
    if (first === undefined || last === undefined) return { first, last };
    const isInside = first <= last && first <= range.last && last >= range.first;
    return isInside ? { first, last } : knownDays(series, prices);
  });
}

/** Warnings for the symbols that have no prices, or only hidden ones, or only before or after the requested day or range. */
export function extentWarnings(
  symbols: readonly RequestedSymbol[],
  requested: DayRange & { name: 'day' | 'range' },
  daysOf: (series: Series) => KnownDays,
): string[] {
  const warnings: string[] = [];
  for (const { code, series } of symbols) {
    const { first, last } = daysOf(series);
    if (first === undefined) warnings.push(noDataWarning(code, series));
    else if (first > requested.last) {
      warnings.push(`The data of ${code} starts on ${printDay(first)}, after this ${requested.name}.`);
    } else if (last !== undefined && last < requested.first) {
      warnings.push(`The data of ${code} ends on ${printDay(last)}, before this ${requested.name}.`);
    }
  }
  return warnings;
}

/** Warnings for the symbols, and for the formulas with a symbol, that have no prices, or only hidden ones. */
export function noDataWarnings(symbols: readonly RequestedSymbol[], view: View): string[] {
  const empty = symbols.filter((one) =>
    symbolSeriesOf([one]).some((part) => view.firstDay(part) === undefined),
  );
  return empty.map(({ code, series }) => noDataWarning(code, series));
}

function noDataWarning(code: string, { isHidden }: Series): string {
  return `${code} ${isHidden ? NO_DATA_SHOWN : 'has no data yet'}.`;
}

/**
 * The bar of a day or, on a closed day, the last one before it within the look-back limit. Throws a refusal that names
 * every symbol without such a bar.
 */
export function barsFor(symbols: readonly RequestedSymbol[], day: Day, prices: Prices): SourcedBar[] {
  const bars: SourcedBar[] = [];
  const missing: RequestedSymbol[] = [];
  for (const requested of symbols) {
    const earliest = day - lookBackDaysOf(requested);
    const bar = prices.barOnOrBefore(requested.series, day, earliest);
    if (bar) bars.push(bar);
    else missing.push(requested);
  }
  if (missing.length > 0) {
    throw refuse('no_data', {
      date: printDay(day),
      missing: missing.map((requested) => noDataFrom(day, requested, prices)),
    });
  }
  return bars;
}

function lookBackDaysOf({ series }: RequestedSymbol): number {
  return LOOK_BACK_DAYS[series.symbol.updateInterval];
}

/** Describes a symbol without data on the requested days, of which `day` is the first: which days it has. */
export function noDataFrom(day: Day, { code, series }: RequestedSymbol, prices: Prices): NoData {
  const { first, last } = knownDays(series, prices);
  const isOver = first !== undefined && last !== undefined && first <= last && last < day;
  return {
    code,
    firstDate: first === undefined ? undefined : printDay(first),
    lastDate: isOver ? printDay(last) : undefined,
    isHidden: series.isHidden,
  };
}
