import type { FormulaSeries } from './formula-series.ts';
import type { SymbolSeries } from './symbol-series.ts';

/** What has prices. Those of a symbol are loaded; those of a formula are computed from its symbols. */
export type Series = SymbolSeries | FormulaSeries;
