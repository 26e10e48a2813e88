import type { FrozenPrices, Prices } from '../../board/views/prices.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import type { Day } from '../../market/day.ts';
import type { RequestedSymbol } from './price-query.ts';

/**
 * Building a response from more bars than this takes longer than a millisecond. Its tag comes from its state instead
 * of its content, so HEAD and 304 do not build it (docs/decisions/0003).
 */
export const LARGE_FROM_BARS = 1_000;

/** A snapshot of the prices if a response about these days is large, and otherwise undefined. Only prices in memory count. */
export function freezeIfLarge(
  symbols: readonly RequestedSymbol[],
  first: Day,
  last: Day,
  prices: Prices,
): FrozenPrices | undefined {
  if (symbols.length * (last - first + 1) <= LARGE_FROM_BARS) return undefined;
  const frozen = prices.freeze?.(symbols.map(({ series }) => series));
  if (!frozen) return undefined;
  let bars = 0;
  for (const { series } of symbols) bars += frozen.days(series, first, last).length;
  return bars > LARGE_FROM_BARS ? frozen : undefined;
}

/** Identifies the bars of some days, with their units and currencies. */
export function stateOfBars(
  symbols: readonly RequestedSymbol[],
  prices: FrozenPrices,
  { first, last }: DayRange,
): readonly (readonly string[])[] {
  return symbols.map(({ code, series }) => {
    const { unit, quote } = prices.measure(series);
    return [code, unit, quote, String(prices.digest(series, first, last))];
  });
}
