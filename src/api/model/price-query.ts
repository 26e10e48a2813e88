import { FormulaSeries } from '../../board/series/formula-series.ts';
import type { Measure } from '../../board/series/price-types.ts';
import type { Series } from '../../board/series/series.ts';
import type { SymbolSeries } from '../../board/series/symbol-series.ts';
import type { Day } from '../../market/day.ts';
import type { Ratio } from '../../market/ratio.ts';

/** A symbol or formula of a request. The response uses this code, even if it is an alias. */
export interface RequestedSymbol {
  code: string;
  series: Series;
}

export function hasFormulas(symbols: readonly RequestedSymbol[]): boolean {
  return symbols.some(({ series }) => series instanceof FormulaSeries);
}

/** How the prices of one series are converted. */
export interface SeriesConversion extends Measure {
  /** The factor that is the same on every day: the unit, and cents to dollars. */
  constant: Ratio;
  /** Exchange rates against the euro: prices are divided by `from` and multiplied by `to`. */
  from: SymbolSeries | undefined;
  to: SymbolSeries | undefined;
}

/** The conversion that `quote` and `unit` request. */
export interface Conversion {
  bySeries: ReadonlyMap<Series, SeriesConversion>;
  /** The exchange rates it needs. */
  rates: readonly SymbolSeries[];
}

/** The point in time of a request: what was recorded after it is not visible. */
export interface AsOf {
  /** In ms. For today it is the end of the day, which is in the future. */
  moment: number;
}

/** Unknown symbols of a request that is answered without them, each with its message. */
export type UnresolvedSymbols = Readonly<Record<string, { message: string }>>;

/** A parsed request for prices. */
export interface PriceQuery {
  symbols?: readonly RequestedSymbol[];
  /** The series that must be in memory. */
  series: readonly SymbolSeries[];
  /** The series whose newest price is part of the tag while the answer can change, so that an old tag never returns. */
  tagged?: readonly SymbolSeries[];
  conversion?: Conversion | undefined;
  /** Whether some of its symbols are ad hoc formulas. */
  hasFormulas?: boolean;
  /** Whether some of its symbols are named formulas. */
  hasNamedFormulas?: boolean;
  asOf?: AsOf | undefined;
  /** The last day that the answer depends on, if it does not depend on the newest prices. */
  lastDay?: Day;
  /** Whether it is answered from the ledger even without `asOf`. */
  readsLedger?: boolean;
  /** The answer is then partial: a 206. */
  unresolved?: UnresolvedSymbols | undefined;
}
