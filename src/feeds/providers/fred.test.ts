import { expect, test } from 'bun:test';
import {
  bytes,
  FRED_NEW,
  FRED_OLD,
  fredJson,
  fredSeries,
  HTML_PAGE,
  zipOf,
} from '../../../test/support/feeds/feed-bodies.ts';
import { printDay } from '../../market/day.ts';
import { fred } from './fred.ts';

const url = 'https://fred.stlouisfed.org/graph/fredgraph.csv?id=X';
const API = 'https://api.stlouisfed.org/fred/series/observations?series_id=DHHNGSP&api_key=k&file_type=json';
const parse = (text: string, at = url) => fred.parse(bytes(text), { url: at });
const rows = (text: string, at = url) =>
  parse(text, at).observations.map((o) => [o.series, printDay(o.day), o.close]);

test('the older CSV: DATE, a point for missing values, several ids as columns, negative prices', () => {
  expect(rows(FRED_OLD)).toEqual([
    ['DCOILWTICO', '2020-04-17', 18.31],
    ['DCOILWTICO', '2020-04-20', -36.98],
    ['DCOILBRENTEU', '2020-04-17', 19.75],
    ['DCOILBRENTEU', '2020-04-20', 17.36],
    ['DCOILBRENTEU', '2020-04-21', 9.12],
  ]);
  expect(parse(FRED_OLD).missing).toBe(1);
});

test('the newer CSV: observation_date, an empty cell for missing values, no newline at the end', () => {
  expect(rows(FRED_NEW)).toEqual([
    ['DHHNGSP', '2018-01-04', 6.24],
    ['DHHNGSP', '2018-01-08', 2.95],
  ]);
  expect(parse(FRED_NEW)).toMatchObject({ missing: 1, refused: [] });
});

test('layout does not matter: a byte order mark, CRLF, quotes, case, footnotes, descending rows, a zip', () => {
  const text =
    '\uFEFF"Observation_Date","dhhngsp"\r\n"2018-01-08","2.95"\r\n\r\n2018-01-04,6.24\r\nSource: EIA\r\n\r\n';
  expect(rows(text)).toEqual(rows('DATE,DHHNGSP\n2018-01-04,6.24\n2018-01-08,2.95\n'));
  expect(parse(text).refused).toEqual([]);
  const zip = fred.parse(zipOf({ 'README.txt': 'x', 'Daily.csv': FRED_NEW }), { url });
  expect(zip.observations).toEqual(parse(FRED_NEW).observations);
});

test('the oldest CSV names its column VALUE: the request knows the series', () => {
  const { observations } = fred.parse(bytes('DATE,VALUE\n2020-01-02,5\n'), { url, series: 'DHHNGSP' });
  expect(observations.map((o) => [o.series, o.close])).toEqual([['DHHNGSP', 5]]);
});

test('a repeated day with the same price counts once; with two prices neither is used and both are reported', () => {
  expect(rows('DATE,X\n2020-01-02,5\n2020-01-02,5.0\n')).toEqual([['X', '2020-01-02', 5]]);
  const { observations, refused } = parse('DATE,X\n2020-01-02,5\n2020-01-02,6\n2020-01-03,7\n');
  expect(observations.map((o) => o.close)).toEqual([7]);
  expect(refused).toEqual([
    { where: 'line 3', reason: '2020-01-02 has two prices, 5 (line 2) and 6 (line 3); neither is used' },
  ]);
});

test('JSON: values are text, in any order, and the series is in the URL', () => {
  expect(rows(fredJson(), API)).toEqual([
    ['DHHNGSP', '2024-07-03', 2.06],
    ['DHHNGSP', '2024-07-05', 2.02],
  ]);
  expect(parse(fredJson(), API)).toMatchObject({ missing: 1, refused: [] });
  expect(() => parse(fredJson())).toThrow('names the series');
  expect(() => parse(fredJson({ units: 'pch' }), API)).toThrow('lin');
});

test('a page of JSON requests the next one', () => {
  expect(parse(fredJson({ count: 10, limit: 3 }), API).next?.url).toContain('offset=3');
  expect(parse(fredJson(), API).next).toBeUndefined();
});

test('with a key, the unit is fetched first; an unexpected unit refuses the series', () => {
  const [first] = fred.requests({ OPENPIT_FRED_API_KEY: 'k' }).filter((one) => one.series === 'DHHNGSP');
  const { next } = fred.parse(bytes(fredSeries('Dollars per Million BTU')), first!);
  expect(next!.url).toStartWith(
    'https://api.stlouisfed.org/fred/series/observations?series_id=DHHNGSP&api_key=k',
  );
  const changed = fred.parse(bytes(fredSeries('Cents per Million BTU')), first!);
  expect(changed.next).toBeUndefined();
  expect(changed.refused[0]!.reason).toContain('USD per MMBtu was expected');
});

test('without a key each series is a CSV, from a given day on', () => {
  expect(fred.requests({}).length).toBe(fred.series.length);
  expect(fred.requests({}, 20_000)[0]!.url).toEndWith('&cosd=2024-10-04');
});

test.each([
  ['', 'empty'],
  [HTML_PAGE, 'HTML'],
  ['{"observations":[{"date":"2024', 'may be truncated'],
  ['{"error_code":400,"error_message":"api_key k is bad"}', 'error 400'],
  ['Price,Volume\n1,2\n', 'DATE'],
])('a body that is something else is refused with the reason (%#)', (body, reason) => {
  expect(() => parse(body, API)).toThrow(reason);
});

test('a truncated or damaged row is refused by its line', () => {
  expect(parse('DATE,X\n2020-01-02,5\n2020-13-45,5\n2020-01-03,abc\n2020-01-').refused).toEqual([
    { where: 'line 3', reason: '"2020-13-45" is not a day' },
    { where: 'line 4', reason: '"abc" is not a number (X)' },
    { where: 'line 5', reason: '"2020-01-" is not a day' },
  ]);
});
