import type { FrozenPrices, Prices } from '../../board/views/prices.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import type { Day } from '../../market/day.ts';
import { hasFormulas, type RequestedSymbol } from './price-query.ts';

/**
 * Building a response from more bars than this takes longer than a millisecond. Its tag comes from its state instead
 * of its content, so HEAD and 304 do not build it (docs/decisions/0003).
 */
const LARGE_FROM_BARS = 1_000;

/** Days of formulas that are evaluated without a pause: one may take 0.2 ms for each. */
export const FORMULA_DAYS_PER_STEP = 50;

/** Whether a response made of this number of bars, or days of formulas, is large. */
export function isLarge(symbols: readonly RequestedSymbol[], bars: number): boolean {
  return bars > (hasFormulas(symbols) ? FORMULA_DAYS_PER_STEP : LARGE_FROM_BARS);
}

/** A snapshot of the prices if a response about these days is large, and otherwise undefined. Only prices in memory count. */
export function freezeIfLarge(
  symbols: readonly RequestedSymbol[],
  first: Day,
  last: Day,
  prices: Prices,
): FrozenPrices | undefined {
  if (!isLarge(symbols, symbols.length * (last - first + 1))) return undefined;
  const frozen = prices.freeze?.(symbols.map(({ series }) => series));
  if (!frozen) return undefined;
  return isLarge(symbols, countBars(symbols, frozen, { first, last })) ? frozen : undefined;
}

/** The number of bars, or days of formulas. */
export function countBars(
  symbols: readonly RequestedSymbol[],
  prices: FrozenPrices,
  { first, last }: DayRange,
): number {
  return symbols.reduce((sum, { series }) => sum + prices.days(series, first, last).length, 0);
}

/** Identifies the bars of some days, with their units and currencies, and what means and volatilities depend on. */
export function stateOfBars(
  symbols: readonly RequestedSymbol[],
  prices: FrozenPrices,
  { first, last }: DayRange,
): readonly (readonly string[])[] {
  return symbols.map(({ code, series }) => {
    const { unit, quote } = prices.measure(series);
    const { decimals, updateInterval } = series.symbol;
    return [code, unit, quote, String(decimals), updateInterval, String(prices.digest(series, first, last))];
  });
}
