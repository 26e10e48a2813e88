import { z } from 'zod';
import { type Day, dayOf, parseDay, printDay } from '../../market/day.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { decode, kindOf } from '../formats/body.ts';
import { quote, readCell } from '../formats/cell.ts';
import { Collector } from '../formats/collector.ts';
import { parseMonth } from '../formats/day.ts';
import { list, numeric, readJson } from '../formats/json.ts';
import { Zip } from '../formats/zip.ts';
import type { FeedRequest, Parsed, Provider } from '../provider.ts';
import { parsedOf, wrongUnit } from './adapter/parsed.ts';
import { settingsOf, urlFrom } from './adapter/settings.ts';
import { readDnav } from './eia-dnav.ts';

const SETTINGS = settingsOf('eia');
const SERIES = SETTINGS.series;
const KEY = 'OPENPIT_EIA_API_KEY';
/** The API's page size limit. */
const PAGE_ROWS = 5000;

export const eia: Provider = {
  ...SETTINGS,
  requests(secrets, since) {
    const key = secrets[KEY];
    if (!key) throw new Error(`${KEY} is not set`);
    const routes = Map.groupBy(SERIES, ({ route }) => route!);
    return [...routes].map(([route, series]) => {
      const url = new URL(urlFrom(this.urls.data!, { route }));
      const add = (name: string, value: string) => url.searchParams.append(name, value);
      add('api_key', key);
      add('frequency', 'daily');
      add('data[0]', 'value');
      for (const { id } of series) add('facets[series][]', id);
      if (since !== undefined) add('start', printDay(since));
      add('sort[0][column]', 'period');
      add('sort[0][direction]', 'asc');
      add('offset', '0');
      add('length', String(PAGE_ROWS));
      return { url: url.href, covers: series.map(({ id }) => id) };
    });
  },
  parse(body, request) {
    // The body echoes the key, and a damaged body may contain it anywhere.
    const key = URL.canParse(request.url) ? new URL(request.url).searchParams.get('api_key') : undefined;
    const hide = (text: string): string => (key ? text.replaceAll(key, '(key)') : text);
    try {
      const parsed = isFile(body) ? parseFiles(body) : parse(body, request);
      for (const one of parsed.refused) one.reason = hide(one.reason);
      return parsed;
    } catch (error) {
      throw new Error(hide(messageOf(error)));
    }
  },
};

/** Whether the body is CSV from EIA's web pages, or a zip of such files, instead of a response of the API. */
function isFile(body: Uint8Array): boolean {
  return ['csv', 'zip'].includes(kindOf(body));
}

function parseFiles(body: Uint8Array): Parsed {
  const collector = new Collector();
  if (kindOf(body) === 'csv') {
    readDnav(decode(body), '', SERIES, collector);
    return parsedOf(collector);
  }
  const zip = new Zip(body);
  for (const name of zip.names) readDnav(decode(zip.read(name)!), `${name} `, SERIES, collector);
  return parsedOf(collector);
}

const Body = z.union([
  z.object({
    response: z.object({
      total: numeric.optional(),
      frequency: z.string().optional(),
      data: list(
        z.object({
          period: z.union([z.string(), z.number()]),
          series: z.string(),
          value: numeric.optional(),
          units: z.string().nullish(),
        }),
      ),
    }),
  }),
  z.object({ error: z.unknown() }),
]);

function parse(body: Uint8Array, request: FeedRequest): Parsed {
  const json = readJson(body, Body);
  if (!('response' in json)) throw new Error('the provider answered with an error; check the API key');
  const { total, frequency, data } = json.response;
  const query = URL.canParse(request.url) ? new URL(request.url).searchParams : new URLSearchParams();
  const wanted = query.get('frequency');
  if (wanted && frequency && frequency !== wanted)
    throw new Error(`the prices are ${quote(frequency)} where ${wanted} ones were requested`);
  const collector = new Collector();
  for (const [i, { period, series, value, units }] of data.entries()) {
    const provided = SERIES.find((one) => one.id === series);
    const reason = provided && wrongUnit(provided, units ?? '');
    const where = `row ${i}`;
    const day = dayOfPeriod(String(period));
    const price = readCell(value);
    if (reason) collector.refuseSeries(series, where, reason);
    else if (day === undefined) collector.refuse(where, `${quote(String(period))} is not a day`);
    else if (price === 'missing') collector.missing++;
    else if (price === undefined) collector.refuse(where, `${quote(String(value))} is not a number`);
    else collector.addValue(series, day, price, where);
  }
  const offset = Number(query.get('offset') ?? 0);
  const isLast = offset + data.length >= Number(total ?? 0);
  const more = query.has('length') && data.length > 0 && !isLast;
  // Without a total, or if the page ends before it, rows may be missing.
  const complete = total !== undefined && total !== null && (isLast || more);
  return parsedOf(collector, { complete, ...(more && { next: pageAt(request, offset + data.length) }) });
}

/** The next page starts where this one ended. The API's warning about incomplete responses adds nothing to `total`. */
function pageAt(request: FeedRequest, offset: number): FeedRequest {
  const url = new URL(request.url);
  url.searchParams.set('offset', String(offset));
  return { ...request, url: url.href };
}

/** A day, a week's Friday, a month or a year. Months and years belong to their first day. */
function dayOfPeriod(period: string): Day | undefined {
  if (/^\d{4}$/.test(period)) return dayOf(Number(period), 1, 1);
  return parseDay(period) ?? parseMonth(period);
}
