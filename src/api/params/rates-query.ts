import type { Series } from '../../board/series/series.ts';
import type { EndpointContext } from '../model/endpoint.ts';
import type { AsOf, Conversion, UnresolvedSymbols } from '../model/price-query.ts';
import { readAsOf } from './as-of.ts';
import { readConversion } from './conversion.ts';
import {
  canBePartial,
  type FirstDay,
  findSymbols,
  type RequestedSymbols,
  wantsMetadata,
} from './parameters.ts';
import { parseSymbols, type SymbolSet } from './symbol-set.ts';

/** What every rates endpoint reads. */
export interface RatesQuery extends RequestedSymbols {
  /** The known symbols of the request. */
  symbolSet: SymbolSet;
  series: readonly Series[];
  tagged: readonly Series[];
  conversion: Conversion | undefined;
  asOf: AsOf | undefined;
  metadata: boolean;
  unresolved?: UnresolvedSymbols | undefined;
}

/**
 * Reads what the rates endpoints have in common, after their own parameters. With `asOf`, the future begins at that
 * moment. Without a day, the request is about now.
 */
export function readRates(context: EndpointContext, sent: SymbolSet, day?: FirstDay): RatesQuery {
  const { query, board, now } = context;
  const metadata = wantsMetadata(query);
  const asOf = day && readAsOf(query, now);
  const horizon = asOf ? Math.min(now, asOf.moment) : now;
  const { symbols, today, unresolved } = findSymbols(sent, board, horizon, {
    day,
    canBePartial: canBePartial(context),
  });
  const conversion = readConversion(query, symbols, board.catalog);
  const series = symbols.map((asked) => asked.series);
  if (conversion) series.push(...conversion.rates);
  const symbolSet = unresolved ? parseSymbols(symbols.map(({ code }) => code).join(',')) : sent;
  return { symbolSet, symbols, today, series, tagged: series, conversion, asOf, metadata, unresolved };
}
