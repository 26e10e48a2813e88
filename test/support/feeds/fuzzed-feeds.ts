import fc from 'fast-check';
import { type BodyKind, kindOf } from '../../../src/feeds/formats/body.ts';
import type { Observation } from '../../../src/feeds/provider.ts';
import { PROVIDERS } from '../../../src/feeds/providers/index.ts';
import { EARLIEST_DAY, LAST_DAY } from '../../../src/market/day.ts';
import {
  bytes,
  ECB_DAILY,
  ECB_HISTORY,
  ECB_SDMX,
  ECB_XML,
  eiaJson,
  FRED_NEW,
  FRED_OLD,
  fredJson,
  fredSeries,
  HTML_PAGE,
  IMF_CSV,
  LBMA_JSON,
  pinkSheet,
  rezip,
  STOOQ_CSV,
  yahooJson,
  zipOf,
} from './feed-bodies.ts';
import { readPriceText } from './price-text.ts';

/** No small body may take longer, on a busy machine. */
const MS_MAX = 2_000;

export const BODIES: Readonly<Record<string, readonly Uint8Array[]>> = {
  fred: [FRED_OLD, FRED_NEW, fredJson(), fredSeries('Dollars per Million BTU')].map(bytes),
  eia: [bytes(eiaJson())],
  'world-bank': [pinkSheet(), pinkSheet({ codes: true })],
  ecb: [...[ECB_XML, ECB_HISTORY, ECB_DAILY, ECB_SDMX].map(bytes), zipOf({ 'a.csv': ECB_HISTORY })],
  imf: [bytes(IMF_CSV)],
  lbma: [bytes(LBMA_JSON)],
  yahoo: [bytes(yahooJson()), bytes(yahooJson({ symbol: 'ZC=F', currency: 'USX' }))],
  stooq: [bytes(STOOQ_CSV)],
};
export const URLS: Readonly<Record<string, string>> = {
  fred: 'https://api.stlouisfed.org/fred/series/observations?series_id=DHHNGSP&api_key=k',
  eia: 'https://api.eia.gov/v2/x/data/?api_key=SECRET-KEY&frequency=daily&offset=0&length=5000',
  stooq: 'https://stooq.com/q/d/l/?s=cl.f&i=d',
  lbma: 'https://prices.lbma.org.uk/json/gold_pm.json',
};

/** Texts that break parsers: extreme numbers, invalid dates, syntax of several formats. */
const HOSTILE_TEXTS = [
  ...[
    '1e309',
    '-1e309',
    'NaN',
    'Infinity',
    '-0',
    '1e-400',
    '9999999999999999999',
    '0x10',
    '1_0',
    '１',
    '2026-02-30',
  ],
  ...[
    '0000-01-01',
    '9999-12-31',
    '275760-09-13',
    '2026M13',
    '2026-M00',
    '__proto__',
    'constructor',
    '\0',
    '\uFEFF',
  ],
  ...[
    '"',
    "'",
    ',',
    ';',
    '\t',
    '\r',
    '\n',
    '\r\n',
    '<',
    '>',
    '&amp;',
    '&#x0;',
    '&lol;',
    '<!DOCTYPE a>',
    ']]>',
    '<a>',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    ':',
    'null',
    'true',
    '{}',
    '[]',
    '\\u0000',
    '.',
    '..',
    '…',
    'PK\x03\x04',
    HTML_PAGE,
  ],
].map(bytes);

type Edit = { at: number; drop: number; put: Uint8Array };
const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  drop: fc.oneof(fc.nat(3), fc.nat(200)),
  put: fc.oneof(
    fc.constantFrom(...HOSTILE_TEXTS),
    fc.uint8Array({ maxLength: 8 }),
    fc.constant(new Uint8Array()),
  ),
});

function mutate(body: Uint8Array, edits: readonly Edit[]): Uint8Array {
  let result = body;
  for (const { at, drop, put } of edits) {
    const from = Math.floor(at * result.length);
    result = new Uint8Array([...result.subarray(0, from), ...put, ...result.subarray(from + drop)]);
  }
  return result;
}

/** Replaces some numbers and dates: the body keeps its format, but its content is wrong. */
function replaceNumbers(body: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const text = Buffer.from(body).toString('latin1');
  const words = [...text.matchAll(NUMBERS)];
  const changes = new Map(edits.map(({ at, put }) => [Math.floor(at * words.length), put]));
  let place = 0;
  const replaced = text.replace(NUMBERS, (word) => {
    const put = changes.get(place++);
    return put ? Buffer.from(put).toString('latin1') : word;
  });
  return new Uint8Array(Buffer.from(replaced, 'latin1'));
}

const NUMBERS = /-?\d[\d.:-]*/g;

/** Replacements for a number or a date. */
const word = fc
  .oneof(
    fc.constantFrom(
      '1e309',
      '-0',
      '1e-400',
      '0',
      '9999999999999999999',
      '-37.63',
      '1_0',
      'null',
      'NaN',
      '',
      'x',
    ),
    fc.constantFrom(
      '2026-02-30',
      '0000-01-01',
      '9999-12-31',
      '1900-01-01',
      '2199-12-31',
      '2026M13',
      '2026-Q9',
    ),
    fc.double().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10)),
    fc.nat(99_999).map(String),
  )
  .map(bytes);

/** Bodies of the provider, edited or truncated (inside of the zip, if it is one), and sometimes random bytes. */
function bodiesOf(samples: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> {
  const sample = fc.constantFrom(...samples);
  const edits = fc.array(edit, { minLength: 1, maxLength: 6 });
  const part = fc.double({ min: 0, max: 1, noNaN: true });
  const replacements = fc.array(fc.record({ at: part, drop: fc.constant(0), put: word }), {
    minLength: 1,
    maxLength: 3,
  });
  const changedBy = (changes: fc.Arbitrary<Edit[]>, change: typeof mutate) =>
    fc.tuple(sample, changes, fc.nat(7)).map(([body, some, which]) => {
      if (!['zip', 'xlsx'].includes(kindOf(body)) || which === 7) return change(body, some);
      return rezip(body, which, (file) => change(file, some));
    });
  return fc.oneof(
    { weight: 1, arbitrary: sample },
    { weight: 8, arbitrary: changedBy(replacements, replaceNumbers) },
    { weight: 8, arbitrary: changedBy(edits, mutate) },
    { weight: 1, arbitrary: fc.tuple(sample, part).map(([body, at]) => body.slice(0, at * body.length)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }) },
    { weight: 1, arbitrary: fc.json().map(bytes) },
  );
}

export function expectGoodRows(
  observations: readonly Omit<Observation, 'series'>[],
  seriesOf: (i: number) => string,
): void {
  const last = new Map<string, number>();
  for (const [i, { day, open, high, low, close }] of observations.entries()) {
    if (![open, high, low, close].every(Number.isFinite)) throw new TypeError('a price is not finite');
    if (!Number.isInteger(day) || day < EARLIEST_DAY || day > LAST_DAY)
      throw new TypeError(`${day} is not a day`);
    const series = seriesOf(i);
    if (day <= (last.get(series) ?? Number.NEGATIVE_INFINITY)) throw new TypeError('days do not ascend');
    last.set(series, day);
  }
}

/** A plain Error with a message is a refusal. Anything else, such as a TypeError, is a bug and is thrown. */
function plainErrorOnly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error) || error.constructor !== Error || error.message === '') throw error;
    if (error.message.includes('SECRET-KEY')) throw new TypeError('the key is in the error');
    return undefined;
  }
}

function inTime<T>(work: () => T): T {
  const start = performance.now();
  const result = work();
  const ms = performance.now() - start;
  if (ms > MS_MAX) throw new TypeError(`it took ${Math.round(ms)} ms`);
  return result;
}

/** The adapters of all providers, and the import of CSV. */
export const FUZZED: readonly string[] = [...PROVIDERS.map(({ key }) => key), 'csv'];

/** Passes `runs` fuzzed bodies to the adapter of a provider, or to the import of CSV. Throws with the smallest body that breaks it. */
export function fuzzFeed(name: string, runs: number): { taken: number; refused: number } {
  const seen = { taken: 0, refused: 0 };
  const count = (parsed: unknown) => {
    if (parsed) seen.taken++;
    else seen.refused++;
  };
  if (name === 'csv') fc.assert(ofCsv(count), { numRuns: runs });
  else fc.assert(ofProvider(name, count), { numRuns: runs });
  return seen;
}

function ofProvider(key: string, count: (parsed: unknown) => void) {
  const provider = PROVIDERS.find((one) => one.key === key)!;
  const kinds: fc.Arbitrary<BodyKind | undefined> = fc.constantFrom(undefined, 'html');
  return fc.property(bodiesOf(BODIES[key]!), kinds, (body, kind) => {
    const request = { url: URLS[key] ?? 'https://example.com/', ...(kind && { body: kind }) };
    const parsed = inTime(() => plainErrorOnly(() => provider.parse(body, request)));
    count(parsed);
    if (!parsed) return;
    expectGoodRows(parsed.observations, (i) => parsed.observations[i]!.series);
    if (JSON.stringify(parsed.refused).includes('SECRET-KEY')) throw new TypeError('the key is in a reason');
  });
}

function ofCsv(count: (parsed: unknown) => void) {
  const files = [
    'Date,Open,High,Low,Close\n2026-01-02,1,2,0.5,1.5\n2026-01-13,1,2,0.5,1.5\n',
    'sym;date;close\nXAU;13.04.2026;1.234,5\nXAG;14.04.2026;12,5K\n',
    'Title\nDay,WTI Dollars per Barrel\n01/13/2026,70.5\n01/5/2026,"1,234.5"\n',
    'timestamp\tclose\n2026-01-02T10:00:00+02:00\t5\n1767398400\t6\n',
  ].map(bytes);
  const mappings = [{}, { columns: { symbol: 'sym' } }, { dateOrder: 'dmy', zone: 'Asia/Tokyo' }] as const;
  return fc.property(bodiesOf(files), fc.constantFrom(...mappings), (body, mapping) => {
    const text = new TextDecoder().decode(body);
    const parsed = inTime(() => plainErrorOnly(() => readPriceText(text, mapping)));
    count(parsed);
    if (parsed) expectGoodRows(parsed.bars, (i) => parsed.bars[i]!.symbol);
  });
}
