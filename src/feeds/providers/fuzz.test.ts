import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
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
} from '../../../test/support/feed-bodies.ts';
import { FIRST_DAY, LAST_DAY } from '../../market/day.ts';
import { parseCsv } from '../csv.ts';
import { type BodyKind, kindOf } from '../formats/body.ts';
import type { Observation } from '../provider.ts';
import { PROVIDERS } from './index.ts';

/** A few hundred bodies in a usual run; OPENPIT_FUZZ_RUNS for more. */
const RUNS = Number(process.env.OPENPIT_FUZZ_RUNS ?? 300);
/** No small body may take longer, on a busy machine. */
const MS_MAX = 2_000;

const BODIES: Readonly<Record<string, readonly Uint8Array[]>> = {
  fred: [FRED_OLD, FRED_NEW, fredJson(), fredSeries('Dollars per Million BTU')].map(bytes),
  eia: [bytes(eiaJson())],
  'world-bank': [pinkSheet(), pinkSheet({ codes: true })],
  ecb: [...[ECB_XML, ECB_HISTORY, ECB_DAILY, ECB_SDMX].map(bytes), zipOf({ 'a.csv': ECB_HISTORY })],
  imf: [bytes(IMF_CSV)],
  lbma: [bytes(LBMA_JSON)],
  yahoo: [bytes(yahooJson()), bytes(yahooJson({ symbol: 'ZC=F', currency: 'USX' }))],
  stooq: [bytes(STOOQ_CSV)],
};
const URLS: Readonly<Record<string, string>> = {
  fred: 'https://api.stlouisfed.org/fred/series/observations?series_id=DHHNGSP&api_key=k',
  eia: 'https://api.eia.gov/v2/x/data/?api_key=SECRET-KEY&frequency=daily&offset=0&length=5000',
  stooq: 'https://stooq.com/q/d/l/?s=cl.f&i=d',
  lbma: 'https://prices.lbma.org.uk/json/gold_pm.json',
};

/** What breaks parsers: numbers at the edge, marks of formats, dates that are not, other bodies. */
const SPLINTERS = [
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
    fc.constantFrom(...SPLINTERS),
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

/** Bodies of the provider with some edits or cut off, inside the zip where there is one; now and then, mere bytes. */
function bodiesOf(samples: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> {
  const sample = fc.constantFrom(...samples);
  const edits = fc.array(edit, { minLength: 1, maxLength: 6 });
  const part = fc.double({ min: 0, max: 1, noNaN: true });
  const edited = fc.tuple(sample, edits, fc.nat(7)).map(([body, changes, which]) => {
    if (!['zip', 'xlsx'].includes(kindOf(body)) || which === 7) return mutate(body, changes);
    return rezip(body, which, (file) => mutate(file, changes));
  });
  return fc.oneof(
    { weight: 8, arbitrary: edited },
    { weight: 1, arbitrary: fc.tuple(sample, part).map(([body, at]) => body.slice(0, at * body.length)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }) },
    { weight: 1, arbitrary: fc.json().map(bytes) },
  );
}

function expectGoodRows(
  observations: readonly Omit<Observation, 'series'>[],
  seriesOf: (i: number) => string,
): void {
  const last = new Map<string, number>();
  for (const [i, { day, open, high, low, close }] of observations.entries()) {
    if (![open, high, low, close].every(Number.isFinite)) throw new TypeError('a price is not finite');
    if (!Number.isInteger(day) || day < FIRST_DAY || day > LAST_DAY) throw new TypeError(`${day} is no day`);
    const series = seriesOf(i);
    if (day <= (last.get(series) ?? Number.NEGATIVE_INFINITY)) throw new TypeError('days do not ascend');
    last.set(series, day);
  }
}

/** A plain Error is an answer; anything else, such as a TypeError of a bug, is not. */
function plainErrorOnly<T>(work: () => T): T | undefined {
  const start = performance.now();
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error) || error.constructor !== Error || error.message === '') throw error;
    if (error.message.includes('SECRET-KEY')) throw new TypeError('the key is in the error');
    return undefined;
  } finally {
    expect(performance.now() - start).toBeLessThan(MS_MAX);
  }
}

describe.each(PROVIDERS.map((one) => [one.key, one] as const))('fuzzed bodies of %s', (key, provider) => {
  test('never crash it and never give a bad row', () => {
    const kinds: fc.Arbitrary<BodyKind | undefined> = fc.constantFrom(undefined, 'html');
    fc.assert(
      fc.property(bodiesOf(BODIES[key]!), kinds, (body, kind) => {
        const request = { url: URLS[key] ?? 'https://example.com/', ...(kind && { body: kind }) };
        const parsed = plainErrorOnly(() => provider.parse(body, request));
        if (!parsed) return;
        expectGoodRows(parsed.observations, (i) => parsed.observations[i]!.series);
        if (JSON.stringify(parsed.refused).includes('SECRET-KEY'))
          throw new TypeError('the key is in a reason');
      }),
      { numRuns: RUNS },
    );
  }, 3_600_000);
});

test('fuzzed CSV files never crash the import and never give a bad row', () => {
  const files = [
    'Date,Open,High,Low,Close\n2026-01-02,1,2,0.5,1.5\n2026-01-13,1,2,0.5,1.5\n',
    'sym;date;close\nXAU;13.04.2026;1.234,5\nXAG;14.04.2026;12,5K\n',
    'Title\nDay,WTI Dollars per Barrel\n01/13/2026,70.5\n01/5/2026,"1,234.5"\n',
    'timestamp\tclose\n2026-01-02T10:00:00+02:00\t5\n1767398400\t6\n',
  ].map(bytes);
  const mappings = [{}, { columns: { symbol: 'sym' } }, { dateOrder: 'dmy', zone: 'Asia/Tokyo' }] as const;
  fc.assert(
    fc.property(bodiesOf(files), fc.constantFrom(...mappings), (body, mapping) => {
      const text = new TextDecoder().decode(body);
      const parsed = plainErrorOnly(() => parseCsv(text, LAST_DAY, mapping));
      if (parsed) expectGoodRows(parsed.bars, (i) => parsed.bars[i]!.symbol);
    }),
    { numRuns: RUNS },
  );
}, 3_600_000);
