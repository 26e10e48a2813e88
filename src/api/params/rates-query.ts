import { type FormulaKind, FormulaSeries } from '../../board/series/formula-series.ts';
import type { SymbolSeries } from '../../board/series/symbol-series.ts';
import { refuse } from '../errors/errors.ts';
import { convertedOf, symbolSeriesOf } from '../formulas/formula-parts.ts';
import type { EndpointContext } from '../model/endpoint.ts';
import {
  type AsOf,
  type Conversion,
  hasFormulas,
  type RequestedSymbol,
  type UnresolvedSymbols,
} from '../model/price-query.ts';
import type { QueryParams } from '../model/query.ts';
import { readAsOf } from './as-of.ts';
import { readConversion } from './conversion.ts';
import {
  canBePartial,
  echo,
  type FirstDay,
  findSymbols,
  isOff,
  type RequestedSymbols,
  singleUnlessEmpty,
} from './parameters.ts';
import { parseSymbols, type SymbolSet } from './symbol-set.ts';

/** What every rates endpoint reads. `PriceQuery` explains the fields that are not explained here. */
export interface RatesQuery extends RequestedSymbols {
  /** The known symbols of the request. */
  symbolSet: SymbolSet;
  series: readonly SymbolSeries[];
  tagged: readonly SymbolSeries[];
  conversion: Conversion | undefined;
  asOf: AsOf | undefined;
  metadata: boolean;
  unresolved?: UnresolvedSymbols | undefined;
  hasFormulas: boolean;
  hasNamedFormulas: boolean;
}

/**
 * Reads what the rates endpoints have in common, after their own parameters. With `asOf`, the future begins at that
 * moment. Without a day, the request is about now.
 */
export function readRates(context: EndpointContext, sent: SymbolSet, day?: FirstDay): RatesQuery {
  const { query, board, now } = context;
  const metadata = !isOff(query, 'metadata');
  const asOf = day && readAsOf(query, now);
  const horizon = asOf ? Math.min(now, asOf.moment) : now;
  const { symbols, today, unresolved } = findSymbols(sent, board, horizon, {
    day,
    canBePartial: canBePartial(context),
    symbolsMax: context.plan.maxSymbols,
  });
  const hasAnyFormula = hasFormulas(symbols);
  const hasAdHoc = hasAnyFormula && symbols.some(isOfKind('ad hoc'));
  if (hasAdHoc) requireNoUnit(query, symbols);
  const conversion = readConversion(query, hasAnyFormula ? convertedOf(symbols) : symbols, board.catalog);
  const series = symbolSeriesOf(symbols);
  if (conversion) series.push(...conversion.rates);
  const symbolSet = unresolved ? parseSymbols(symbols.map(({ code }) => code).join(',')) : sent;
  return {
    symbolSet,
    symbols,
    today,
    series,
    tagged: series,
    hasFormulas: hasAdHoc,
    hasNamedFormulas: hasAnyFormula && symbols.some(isOfKind('named')),
    conversion,
    asOf,
    metadata,
    unresolved,
  };
}

function isOfKind(kind: FormulaKind): (symbol: RequestedSymbol) => boolean {
  return ({ series }) => series instanceof FormulaSeries && series.kind === kind;
}

/** The unit of a formula is what its factors make of it. */
function requireNoUnit(query: QueryParams, symbols: readonly RequestedSymbol[]): void {
  const unit = singleUnlessEmpty(query, 'unit');
  if (unit === undefined) return;
  const misfits = symbols.filter(isOfKind('ad hoc')).map(({ code }) => ({ code, units: [] }));
  throw refuse('invalid_unit', { received: echo(unit), misfits });
}
