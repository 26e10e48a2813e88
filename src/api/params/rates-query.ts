import type { Series } from '../../board/series/series.ts';
import type { Day } from '../../market/day.ts';
import type { EndpointContext } from '../model/endpoint.ts';
import type { AsOf, Conversion } from '../model/price-query.ts';
import { readAsOf } from './as-of.ts';
import { readConversion } from './conversion.ts';
import { findSymbols, type RequestedSymbols, wantsMetadata } from './parameters.ts';
import type { SymbolSet } from './symbol-set.ts';

/** What every rates endpoint reads. */
export interface RatesQuery extends RequestedSymbols {
  symbolSet: SymbolSet;
  series: readonly Series[];
  tagged: readonly Series[];
  conversion: Conversion | undefined;
  asOf: AsOf | undefined;
  metadata: boolean;
}

/** The first requested day, which must not be in the future, and the parameter that names it. */
interface FirstDay {
  name: string;
  day: Day;
}

/**
 * Reads what the rates endpoints have in common, after their own parameters. With `asOf`, the future begins at that
 * moment. Without a day, the request is about now.
 */
export function readRates(
  { query, board, now }: EndpointContext,
  symbolSet: SymbolSet,
  day?: FirstDay,
): RatesQuery {
  const metadata = wantsMetadata(query);
  const asOf = day && readAsOf(query, now);
  const { symbols, today } = findSymbols(symbolSet, board, asOf ? Math.min(now, asOf.moment) : now, day);
  const conversion = readConversion(query, symbols, board.catalog);
  const series = symbols.map((asked) => asked.series);
  if (conversion) series.push(...conversion.rates);
  return { symbolSet, symbols, today, series, tagged: series, conversion, asOf, metadata };
}
