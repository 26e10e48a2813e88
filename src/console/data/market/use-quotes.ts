import type { MarketSymbol, Quote } from '../../api/answers.ts';
import { useLoad } from '../../api/load.ts';
import { loadModule } from '../../api/load-module.ts';
import type { MarketStore } from './store.ts';

export type QuoteOf = (symbol: MarketSymbol) => Quote | undefined;

/** The newest quotes of some symbols. Few pages show formulas, so the code that computes theirs is loaded when it is needed. */
export function useQuotes({ rows }: MarketStore, symbols: readonly MarketSymbol[]): QuoteOf {
  const hasFormula = symbols.some(({ formula }) => formula !== undefined);
  const { data } = useLoad(
    async () => (hasFormula ? await loadModule(() => import('../formula-quote.ts')) : undefined),
    [hasFormula],
  );
  return ({ symbol, formula }) =>
    formula === undefined ? rows.get(symbol)?.quote : data?.quoteOfFormula(formula, rows);
}
