import type { Series } from '../../board/series/series.ts';
import type { Day } from '../../market/day.ts';
import type { EndpointContext } from '../model/endpoint.ts';
import type { AsOf, Conversion } from '../model/price-query.ts';
import { readAsOf } from './as-of.ts';
import { readConversion } from './conversion.ts';
import { findSymbols, type RequestedSymbols, wantsMetadata } from './parameters.ts';
import type { SymbolSet } from './symbol-set.ts';

/** What every endpoint for rates reads. */
export interface RatesQuery extends RequestedSymbols {
  symbolSet: SymbolSet;
  series: readonly Series[];
  tagged: readonly Series[];
  conversion: Conversion | undefined;
  asOf: AsOf | undefined;
  metadata: boolean;
}

/** The first day that is asked about, which must not be in the future, and the parameter that it came in. */
interface FirstDay {
  name: string;
  day: Day;
}

/**
 * Reads what the endpoints for rates have in common, after their own parameters. As of a moment in the past, the future
 * begins there. Without a day it is about now.
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
