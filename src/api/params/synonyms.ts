import { isKeyName } from '../access/api-key.ts';
import { plainName, type QueryParams } from '../model/query.ts';
import type { Format } from '../model/table.ts';
import { isDocumented } from '../openapi/documented.ts';

/** All parameters of the rates endpoints. The API key is not among them: it identifies the client, not the data. */
export const RATES_PARAMETERS = [
  'symbols',
  'date',
  'startDate',
  'endDate',
  'metadata',
  'quote',
  'unit',
  'asOf',
  'interval',
  'transform',
  'period',
  'moving',
  'layout',
  'field',
  'format',
  'cursor',
  'closes',
  'visit',
  'dryRun',
] as const;

type RatesParameter = (typeof RATES_PARAMETERS)[number];

const PARAMETER_NAMES: ReadonlySet<string> = new Set(RATES_PARAMETERS);

/** What other services call these parameters, in lower case and without separators. */
const OTHER_NAMES: Readonly<Record<string, RatesParameter>> = {
  symbol: 'symbols',
  ticker: 'symbols',
  tickers: 'symbols',
  code: 'symbols',
  codes: 'symbols',
  commodity: 'symbols',
  commodities: 'symbols',
  day: 'date',
  from: 'startDate',
  fromdate: 'startDate',
  datefrom: 'startDate',
  start: 'startDate',
  since: 'startDate',
  to: 'endDate',
  todate: 'endDate',
  dateto: 'endDate',
  end: 'endDate',
  until: 'endDate',
  base: 'quote',
  basecurrency: 'quote',
  currency: 'quote',
  currencies: 'quote',
  quotecurrency: 'quote',
  units: 'unit',
  frequency: 'interval',
  granularity: 'interval',
  timeframe: 'interval',
  resolution: 'interval',
  collapse: 'interval',
  transformation: 'transform',
  lag: 'period',
  periods: 'period',
  movingaverage: 'moving',
  sma: 'moving',
  ma: 'moving',
  window: 'moving',
  orientation: 'layout',
  aggregation: 'field',
  fields: 'field',
  column: 'field',
  columns: 'field',
  output: 'format',
  outputformat: 'format',
  page: 'cursor',
};

/** What other services can do and these endpoints cannot, spelled as above. */
const UNSUPPORTED_NAMES: ReadonlySet<string> = new Set([
  'category',
  'search',
  'filter',
  'limit',
  'count',
  'days',
  'offset',
  'perpage',
  'pagesize',
  'size',
  'rows',
  'outputsize',
  'order',
  'orderby',
  'sort',
  'sortby',
  'sortorder',
  'timezone',
  'tz',
  'decimals',
  'precision',
  'round',
  'fill',
  'adjust',
  'delay',
]);

const OWN_NAMES: ReadonlyMap<string, RatesParameter> = new Map([
  ...RATES_PARAMETERS.map((name) => [plainName(name), name] as const),
  ...Object.entries(OTHER_NAMES),
]);

/** The parameter that is probably meant by a name: our own, spelled differently, or another service's. */
function meantBy(name: string): RatesParameter | undefined {
  return OWN_NAMES.get(plainName(name));
}

/** Which name was sent instead of this one. */
export function nameSentInstead(query: QueryParams, name: string): string | undefined {
  for (const { name: sent } of query) if (sent !== name && meantBy(sent) === name) return sent;
  return undefined;
}

/**
 * One message for each parameter that has no effect: our own that the endpoint does not read, other names of them, and empty
 * ones. Other unknown names get none: caches and trackers add them. Call it after the endpoint has read its parameters.
 */
export function parameterWarnings(query: QueryParams, path: string, format: Format = 'json'): string[] {
  const warnings: string[] = [];
  for (const { name, values, isRead } of query) {
    if (!PARAMETER_NAMES.has(name)) {
      const meant = isKeyName(name) ? undefined : meantBy(name);
      if (meant) warnings.push(synonymWarning(name, meant, query, path));
      else if (UNSUPPORTED_NAMES.has(plainName(name)))
        warnings.push(`The parameter "${name}" has no effect.`);
    } else if (!isRead) {
      warnings.push(`The parameter "${name}" has no effect ${whereUnread(query, name, path)}.`);
    } else if (values.every((value) => value.trim() === '')) {
      warnings.push(`The parameter "${name}" is empty, which counts as missing.`);
    } else if (name === 'metadata' || name === 'closes') {
      const why = switchWarning(name, values, format);
      if (why !== undefined) warnings.push(`The parameter "${name}" has no effect: ${why}.`);
    }
  }
  return warnings;
}

/** Names the right parameter, unless that has no effect here either. */
function synonymWarning(name: string, meant: RatesParameter, query: QueryParams, path: string): string {
  if (isDocumented(path, meant) && query.supersededBy(meant) === undefined)
    return `The parameter "${name}" has no effect. Did you mean "${meant}"?`;
  return `The parameter "${name}" has no effect ${whereUnread(query, meant, path)}.`;
}

/** Where a parameter is not read: at this endpoint, or in a request with another one that replaces it. */
function whereUnread(query: QueryParams, name: string, path: string): string {
  const by = query.supersededBy(name);
  return by === undefined ? `on ${path}` : `together with "${by}"`;
}

/** Only `false` omits something; the others say that it is wanted. */
const SWITCH_VALUES: readonly string[] = ['false', 'true', '1', 'yes'];

function switchWarning(
  name: 'metadata' | 'closes',
  values: readonly string[],
  format: Format,
): string | undefined {
  if (name === 'metadata' && format !== 'json') return 'only JSON has metadata';
  return SWITCH_VALUES.includes(values[0]!.trim().toLowerCase()) ? undefined : 'it must be "true" or "false"';
}
