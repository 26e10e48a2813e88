import { z } from 'zod';
import { printDay } from '../../market/day.ts';
import { decode, kindOf, textOf } from '../formats/body.ts';
import { quote, readCell } from '../formats/cell.ts';
import { Collector } from '../formats/collector.ts';
import { parsePlainDay } from '../formats/day.ts';
import { list, numeric, readJson } from '../formats/json.ts';
import { firstLine, isFootnote, readTable } from '../formats/table.ts';
import { Zip } from '../formats/zip.ts';
import type { FeedRequest, Parsed, Provider } from '../provider.ts';
import { parsedOf, wrongUnit } from './adapter/parsed.ts';
import { isColumn, settingsOf, urlFrom } from './adapter/settings.ts';

const SETTINGS = settingsOf('fred');
const KEY = 'OPENPIT_FRED_API_KEY';

/**
 * FRED serves CSV without an API key and JSON with one. With a key, the description of each series is fetched first: only it
 * states the unit.
 */
export const fred: Provider = {
  ...SETTINGS,
  requests(secrets, since) {
    const key = secrets[KEY];
    return this.series.map(({ id }) => {
      if (!key) {
        const from = since === undefined ? '' : `&cosd=${printDay(since)}`;
        return { url: urlFrom(this.urls.csv!, { id }) + from, series: id };
      }
      const from = since === undefined ? '' : `&observation_start=${printDay(since)}`;
      const url = urlFrom(this.urls.api!, { id, key: encodeURIComponent(key) }) + from;
      return { url, series: id, body: 'json' };
    });
  },
  parse(body, request) {
    const kind = kindOf(body);
    if (kind === 'json') return parseJson(body, request);
    if (kind !== 'zip') return parseCsv([['', textOf(body, 'CSV')]], request);
    const zip = new Zip(body);
    const names = zip.names.filter((name) => /\.csv$/i.test(name));
    if (names.length === 0) throw new Error('the zip file contains no CSV');
    return parseCsv(
      names.map((name) => [`${name.slice(0, 60)} `, decode(zip.read(name)!)]),
      request,
    );
  },
};

function parseCsv(files: readonly [file: string, text: string][], request: FeedRequest): Parsed {
  const collector = new Collector();
  for (const [file, text] of files) {
    const table = readTable(text, (names) => isColumn(SETTINGS, 'date', names[0]));
    if (!table)
      throw new Error(
        `no line has ${SETTINGS.columns!.date!.join(' or ')} first; the text starts with ${quote(firstLine(text))}`,
      );
    const ids = table.header.slice(1).map((name) => name.toUpperCase());
    // Old downloads have one column, VALUE; the request knows the series.
    if (ids[0] === 'VALUE' && request.series) ids[0] = request.series;
    for (const { line, cells } of table.rows) {
      if (isFootnote(cells)) continue;
      const where = `${file}line ${line}`;
      const day = parsePlainDay(cells[0] ?? '');
      if (day === undefined) {
        collector.refuse(where, `${quote(cells[0] ?? '')} is not a day`);
        continue;
      }
      for (const [i, id] of ids.entries()) {
        if (id !== '') takeCell(collector, id, day, cells[i + 1], where);
      }
    }
  }
  return parsedOf(collector, { complete: true });
}

const Body = z.union([
  z.object({
    observations: list(z.object({ date: z.string(), value: numeric })),
    units: z.string().optional(),
    count: z.number().optional(),
    offset: z.number().optional(),
    limit: z.number().optional(),
  }),
  z.object({ seriess: z.array(z.object({ id: z.string(), units: z.string().default('') })).min(1) }),
  z.object({ error_code: z.number() }),
]);

function parseJson(body: Uint8Array, request: FeedRequest): Parsed {
  const response = readJson(body, Body);
  if ('error_code' in response)
    throw new Error(`the provider answered with its error ${response.error_code}`);
  const collector = new Collector();
  if ('seriess' in response) {
    const { id, units } = response.seriess[0]!;
    const wanted = SETTINGS.series.find((one) => one.id === id);
    const reason = wanted && wrongUnit(wanted, units);
    if (reason) collector.refuseSeries(id, id, reason);
    const next = reason ? undefined : observationsRequest(request, id);
    return parsedOf(collector, next && { next });
  }
  const id = request.series ?? parameter(request.url, 'series_id');
  if (!id) throw new Error('neither the body nor the request names the series');
  if (response.units !== undefined && response.units !== 'lin')
    throw new Error('the observations are not plain values (units is not "lin")');
  for (const [i, { date, value }] of response.observations.entries()) {
    const day = parsePlainDay(date);
    if (day === undefined) collector.refuse(`observation ${i}`, `${quote(date)} is not a day`);
    else takeCell(collector, id, day, value, `observation ${i}`);
  }
  const { count, offset = 0, limit = 0 } = response;
  const from = offset + response.observations.length;
  const isLast = count === undefined || from >= count;
  const more = response.observations.length > 0 && limit > 0 && !isLast && parameter(request.url, 'api_key');
  const complete = count !== undefined && (isLast || Boolean(more));
  return parsedOf(collector, {
    complete,
    ...(more && { next: withParameter(request, 'offset', String(from)) }),
  });
}

function takeCell(
  collector: Collector,
  id: string,
  day: number,
  cell: string | number | null | undefined,
  where: string,
): void {
  const value = readCell(cell);
  if (value === 'missing') collector.missing++;
  else if (value === undefined) collector.refuse(where, `${quote(String(cell))} is not a number (${id})`);
  else collector.addValue(id, day, value, where);
}

/** The request for a series' prices, from the request for its description, with the same key. */
function observationsRequest(request: FeedRequest, id: string): FeedRequest | undefined {
  if (!URL.canParse(request.url)) return undefined;
  const url = new URL(request.url);
  if (!url.pathname.endsWith('/fred/series')) return undefined;
  url.pathname += '/observations';
  return { ...request, url: url.href, series: id };
}

function parameter(url: string, name: string): string | undefined {
  return (URL.canParse(url) && new URL(url).searchParams.get(name)) || undefined;
}

function withParameter(request: FeedRequest, name: string, value: string): FeedRequest {
  const url = new URL(request.url);
  url.searchParams.set(name, value);
  return { ...request, url: url.href };
}
