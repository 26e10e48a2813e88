import { describe, expect, test } from 'bun:test';
import { bytes, HTML_PAGE, pinkSheet, workbook } from '../../../test/support/feeds/feed-bodies.ts';
import { pricesOf } from '../../../test/support/responses/catalogue.ts';
import { worldBank } from './world-bank.ts';

const request = { url: 'https://thedocs.worldbank.org/x.xlsx', body: 'xlsx' as const };
const parse = (body: Uint8Array) => worldBank.parse(body, request);

describe.each([
  ['with names and units', pinkSheet()],
  ['with one more row of codes', pinkSheet({ codes: true })],
])('an edition %s', (_edition, body) => {
  test('returns monthly prices on the first of the month, with the published digits', () => {
    const prices = pricesOf(worldBank, parse(body)).map((p) => [p.symbol, p.date, p.close]);
    expect(prices).toEqual([
      ['DBLC1', '1960-01-01', 1.63],
      ['DBLC1', '1960-02-01', 1.63],
      ['DBLC1', '2026-05-01', 94.67],
      ['RB1COAL', '2026-05-01', 95.56],
      ['TEAK', '1960-01-01', 1.12],
      ['TEAK', '1960-02-01', 1.1],
      ['TEAK', '2026-05-01', 3.19],
      ['BEEF', '1960-01-01', 0.71],
      ['BEEF', '1960-02-01', 0.7],
      ['BEEF', '2026-05-01', 7.95],
      ['LOGASIA', '1960-01-01', 31.94],
      ['LOGASIA', '1960-02-01', 31.94],
    ]);
  });

  test('counts missing values and never reads them as zero', () => {
    const { missing, refused, observations } = parse(body);
    expect({ missing, refused }).toEqual({ missing: 5, refused: [] });
    expect(observations.some((o) => o.close === 0)).toBe(false);
  });
});

test('a series with an unexpected unit is refused, the others are accepted', () => {
  const { refused, observations } = parse(pinkSheet({ teaUnit: '(cents/kg)' }));
  expect(refused).toEqual([
    { where: 'column 4', reason: 'Tea, Kolkata is in "(cents/kg)" where USD per Kg was expected' },
  ]);
  expect(observations.some((o) => o.series === 'Tea, Kolkata')).toBe(false);
  expect(observations.some((o) => o.series === 'Beef')).toBe(true);
});

test('columns may move, names may be spelled as in other editions, notes may follow', () => {
  const body = workbook(' monthly  PRICES ', [
    ['World Bank'],
    [undefined, 'MEAT, BEEF', undefined, 'Bananas, EU', 'Rice, Viet Nam 5%'],
    [undefined, '($/kg)', undefined, ' ($/kg) ', '($/mt)'],
    ['2026M01', 7.5, undefined, 1.14, 376.33],
    ['2026M02', 7.6, undefined, 'n.a.', 380],
    [],
    ['** Replacement series from January 2020'],
  ]);
  const { observations, missing, refused } = parse(body);
  expect(observations.map((o) => [o.series, o.close])).toEqual([
    ['Beef', 7.5],
    ['Beef', 7.6],
    ['Banana, Europe', 1.14],
    ['Rice, Viet Namese 5%', 376.33],
    ['Rice, Viet Namese 5%', 380],
  ]);
  expect({ missing, refused }).toEqual({ missing: 1, refused: [] });
});

test('of two columns with the same name the first is used, and the second refused once', () => {
  const body = workbook('Monthly Prices', [
    [undefined, 'Beef', 'Beef **', 'Lamb'],
    [undefined, '($/kg)', '($/kg)', '($/kg)'],
    ['2026M01', 7.5, 1, 7.28],
    ['2026M02', 7.6, 2, 7.3],
  ]);
  const { observations, refused } = parse(body);
  expect(observations.map((o) => o.close)).toEqual([7.5, 7.6, 7.28, 7.3]);
  expect(refused).toEqual([{ where: 'column 3', reason: 'it has the same name, Beef, as column 2' }]);
});

test('the landing page leads to the monthly workbook, whatever its current URL', () => {
  const [page] = worldBank.requests({});
  const html = `<!DOCTYPE html><html><a href="/a/CMO-Historical-Data-Annual.xlsx">annual</a>
    <a href='https://evil.example/CMO-Historical-Data-Monthly.xlsx'>no</a>
    <a class=x href="https://thedocs.worldbank.org/en/doc/18675/related/CMO-Historical-Data-Monthly.xlsx?a=1&amp;b=2">monthly</a></html>`;
  const parsed = worldBank.parse(bytes(html), page!);
  expect(parsed).toEqual({
    observations: [],
    missing: 0,
    refused: [],
    next: {
      url: 'https://thedocs.worldbank.org/en/doc/18675/related/CMO-Historical-Data-Monthly.xlsx?a=1&b=2',
      body: 'xlsx',
    },
  });
  expect(() => worldBank.parse(bytes(HTML_PAGE), page!)).toThrow('no link');
});

test('a body that is something else is refused with the reason', () => {
  expect(() => parse(bytes(HTML_PAGE))).toThrow('HTML');
  expect(() => parse(bytes(''))).toThrow('empty');
  expect(() => parse(bytes('a,b\n1,2'))).toThrow('not an XLSX');
  expect(() => parse(pinkSheet().subarray(0, 900))).toThrow('may be truncated');
  expect(() => parse(workbook('Annual Prices', [['x']]))).toThrow('AFOSHEET, Annual Prices');
  expect(() => parse(workbook('Monthly Prices', [['x']]))).toThrow('no row that starts with a month');
});
