import type { MarketSymbol } from '../../api/answers.ts';
import { changeOf, type MarketRows } from './rows.ts';

export const SORTINGS = ['Name', 'Top movers', 'Top gainers', 'Top losers'] as const;
export type Sorting = (typeof SORTINGS)[number];

/** Symbols in the chosen order. Those without a change come last. */
export function sorted(
  symbols: readonly MarketSymbol[],
  sorting: Sorting,
  rows: MarketRows,
): readonly MarketSymbol[] {
  if (sorting === 'Name') return symbols;
  const rank = ({ symbol }: MarketSymbol) => {
    const quote = rows.get(symbol)?.quote;
    const percent = quote && changeOf(quote)?.percent;
    if (percent === undefined) return Number.MAX_VALUE;
    if (sorting === 'Top movers') return -Math.abs(percent);
    return sorting === 'Top gainers' ? -percent : percent;
  };
  return symbols.toSorted((a, b) => rank(a) - rank(b));
}
