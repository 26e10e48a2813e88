import { FormulaSeries } from '../../board/series/formula-series.ts';
import type { SymbolSeries } from '../../board/series/symbol-series.ts';
import type { RequestedSymbol } from '../model/price-query.ts';

/** The series whose prices a request reads: those of its symbols, and of the symbols in its formulas. */
export function symbolSeriesOf(symbols: readonly RequestedSymbol[]): SymbolSeries[] {
  const found: SymbolSeries[] = [];
  for (const { series } of symbols) {
    if (series instanceof FormulaSeries) for (const part of series.parts) found.push(part.series);
    else found.push(series);
  }
  return found;
}

/** The symbols whose prices a request converts: the parts of ad hoc formulas, and all others. */
export function convertedOf(symbols: readonly RequestedSymbol[]): readonly RequestedSymbol[] {
  return symbols.flatMap((requested): readonly RequestedSymbol[] => {
    const { series } = requested;
    return series instanceof FormulaSeries && series.kind === 'ad hoc' ? series.parts : [requested];
  });
}
