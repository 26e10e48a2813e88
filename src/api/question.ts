import type { Series } from '../board/series.ts';
import type { Day } from '../market/day.ts';
import { type AsOf, readAsOf } from './as-of.ts';
import { type Conversion, readConversion } from './conversion.ts';
import type { Context } from './endpoint.ts';
import { type AskedSymbols, findSymbols, wantsMetadata } from './parameters.ts';

/** What every endpoint for rates reads. */
export interface RatesQuestion extends AskedSymbols {
  series: readonly Series[];
  conversion: Conversion | undefined;
  asOf: AsOf | undefined;
  metadata: boolean;
}

/**
 * Reads what the endpoints for rates have in common, after their own parameters. `day` must not be in the future; as of
 * a moment in the past, the future begins there.
 */
export function readRates(
  { query, board, now }: Context,
  codes: readonly string[],
  day?: { name: string; day: Day },
): RatesQuestion {
  const metadata = wantsMetadata(query);
  const asOf = day && readAsOf(query, now); // the latest price is as of now
  const { symbols, today } = findSymbols(codes, board, asOf ? Math.min(now, asOf.moment) : now, day);
  const conversion = readConversion(query, symbols, board.catalog);
  const series = symbols.map((asked) => asked.series);
  if (conversion) series.push(...conversion.rates);
  return { symbols, today, series, conversion, asOf, metadata };
}
