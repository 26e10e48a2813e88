import { expect, test } from 'bun:test';
import {
  bytes,
  ECB_DAILY,
  ECB_HISTORY,
  ECB_SDMX,
  ECB_XML,
  HTML_PAGE,
  zipOf,
} from '../../../test/support/feeds/feed-bodies.ts';
import { printDay } from '../../market/day.ts';
import { ecb } from './ecb.ts';

const parse = (body: string | Uint8Array) =>
  ecb.parse(typeof body === 'string' ? bytes(body) : body, { url: 'https://www.ecb.europa.eu/x' });
const rows = (body: string | Uint8Array) =>
  parse(body).observations.map((o) => [o.series, printDay(o.day), o.close]);

test('XML, with either kind of quote', () => {
  expect(rows(ECB_XML)).toEqual([
    ['USD', '2026-05-08', 1.13],
    ['USD', '2026-05-09', 1.1252],
    ['GBP', '2026-05-09', 0.8477],
  ]);
});

const HISTORY = [
  ['USD', '2020-04-20', 1.086],
  ['USD', '2026-04-13', 1.1684],
  ['JPY', '2020-04-20', 117.11],
  ['JPY', '2026-04-13', 186.75],
  ['BGN', '2020-04-20', 1.9558],
];

test('CSV and zip: a comma at the end of each row is not a currency, N/A is missing', () => {
  expect(rows(ECB_HISTORY)).toEqual(HISTORY);
  expect(parse(ECB_HISTORY)).toMatchObject({ missing: 1, refused: [] });
  expect(rows(zipOf({ 'eurofxref-hist.csv': ECB_HISTORY }))).toEqual(HISTORY);
});

test('the daily CSV has spaces and its day in words', () => {
  expect(rows(ECB_DAILY)).toEqual([
    ['USD', '2026-04-13', 1.1684],
    ['JPY', '2026-04-13', 186.75],
  ]);
});

test('the data portal: only daily rates against the euro', () => {
  expect(rows(ECB_SDMX)).toEqual([['HKD', '2000-01-03', 7.8624]]);
  expect(parse(ECB_SDMX)).toMatchObject({
    missing: 1,
    refused: [{ where: 'line 4', reason: '"HKD" has FREQ "M" where the reference rate has D' }],
  });
});

test('a download of the data portal names the series in its header', () => {
  const text =
    '"DATE","TIME PERIOD","US dollar/Euro (EXR.D.USD.EUR.SP00.A)"\n"2020-04-20","20 Apr 2020","1.086"\n';
  expect(rows(text)).toEqual([['USD', '2020-04-20', 1.086]]);
});

test('a rate of zero or less is refused', () => {
  expect(parse('Date,USD\n2026-01-02,0\n2026-01-03,-1\n2026-01-04,1.2\n').refused.length).toBe(2);
});

test('a body that is something else is refused with the reason', () => {
  expect(() => parse('')).toThrow('empty');
  expect(() => parse(HTML_PAGE)).toThrow('HTML');
  expect(() => parse(ECB_XML.slice(0, 500))).toThrow('may be truncated');
  expect(() => parse('<a><b/></a>')).toThrow('no rates');
  expect(() => parse(zipOf({ 'a.txt': 'x' }))).toThrow('no CSV');
  expect(() => parse(zipOf({ 'a.csv': ECB_HISTORY }).subarray(0, 60))).toThrow('may be truncated');
});
