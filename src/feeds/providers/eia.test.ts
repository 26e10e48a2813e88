import { expect, test } from 'bun:test';
import { bytes, eiaJson, HTML_PAGE } from '../../../test/support/feeds/feed-bodies.ts';
import { printDay } from '../../market/day.ts';
import { eia } from './eia.ts';

const requests = eia.requests({ OPENPIT_EIA_API_KEY: 'SECRET-KEY' });
const parse = (text: string, request = requests[0]!) => eia.parse(bytes(text), request);

test('values and totals are text or numbers, newest first or last; null is missing and not 0', () => {
  const { observations, missing, refused, next } = parse(eiaJson());
  expect(observations.map((o) => [o.series, printDay(o.day), o.close])).toEqual([
    ['RWTC', '2008-07-03', 145.31],
    ['RWTC', '2020-04-20', -36.98],
  ]);
  expect({ missing, refused, next }).toEqual({ missing: 1, refused: [], next: undefined });
});

test.each([10_003, '10003'])('each page requests the next one, up to the total %p', (total) => {
  const first = parse(eiaJson({ total })).next!;
  expect(new URL(first.url).searchParams.get('offset')).toBe('3');
  const second = parse(eiaJson({ total }), first).next!;
  expect(new URL(second.url).searchParams.get('offset')).toBe('6');
  expect(parse(eiaJson({ total: 6 }), first).next).toBeUndefined();
  expect(parse(eiaJson({ total, data: [] }), first).next).toBeUndefined();
});

test('a series in another unit is refused once, by its label', () => {
  const row = { series: 'RWTC', value: '6000', units: '¢/BBL' };
  const data = [
    { ...row, period: '2026-01-02' },
    { ...row, period: '2026-01-05' },
    { period: '2026-01-02', series: 'RNGWHHD', value: '3.1', units: '$/MMBTU' },
  ];
  const { observations, refused } = parse(eiaJson({ data }));
  expect(observations.map((o) => o.series)).toEqual(['RNGWHHD']);
  expect(refused).toEqual([{ where: 'row 0', reason: 'RWTC is in "¢/BBL" where USD per Bbl was expected' }]);
});

test('weekly averages are rejected where daily prices were requested', () => {
  expect(() => parse(eiaJson({ frequency: 'weekly' }))).toThrow('"weekly" where daily');
  const anything = { url: 'https://api.eia.gov/v2/x' };
  expect(parse(eiaJson({ frequency: 'weekly' }), anything).observations.length).toBe(2);
});

test('no error or reason contains the key, wherever a damaged body has it', () => {
  const bodies = [
    '{"error":{"code":"API_KEY_INVALID","message":"SECRET-KEY"}}',
    '{"response": SECRET-KEY',
    eiaJson({ frequency: 'SECRET-KEY' }),
    eiaJson({ data: [{ period: 'SECRET-KEY', series: 'RWTC', value: '1', units: '$/BBL' }] }),
    eiaJson({ data: [{ period: '2026-01-02', series: 'RWTC', value: '1', units: 'SECRET-KEY' }] }),
    eiaJson({ data: { 'SECRET-KEY': 1 } }),
  ];
  for (const body of bodies) {
    let said = '';
    try {
      said = JSON.stringify(parse(body).refused);
    } catch (error) {
      said = String(error);
    }
    expect(said.length).toBeGreaterThan(5);
    expect(said).not.toContain('SECRET-KEY');
  }
});

test('a body that is something else is refused with the reason', () => {
  expect(() => parse('')).toThrow('empty');
  expect(() => parse(HTML_PAGE)).toThrow('HTML');
  expect(() => parse(eiaJson().slice(0, 300))).toThrow('may be truncated');
  expect(() => parse('{"response":{"data":[{"period":"2026-01-02"}]}}')).toThrow('expected structure');
});

test('it sends no request without its key', () => {
  expect(() => eia.requests({})).toThrow('OPENPIT_EIA_API_KEY');
});

/** A file from EIA's web pages. */
const dnav = (rows: readonly string[], page = 'pet/hist/RWTCD', unit = 'Dollars per Barrel') =>
  `Cushing OK WTI Spot Price FOB
https://www.eia.gov/dnav/${page}.htm
22:36:25 GMT-0400 (Eastern Daylight Time)
Source: U.S. Energy Information Administration
Day,Cushing OK WTI Spot Price FOB  ${unit}
${rows.join('\n')}`;

test("a CSV file from EIA's web pages is read, in any order, and a blank is missing and not 0", () => {
  const { observations, missing, refused } = parse(
    dnav(['04/20/2020,-36.98', '04/3/2020,', '07/3/2008,145.31']),
  );
  expect(observations.map((o) => [o.series, printDay(o.day), o.close])).toEqual([
    ['RWTC', '2008-07-03', 145.31],
    ['RWTC', '2020-04-20', -36.98],
  ]);
  expect({ missing, refused }).toEqual({ missing: 1, refused: [] });
});

test('such a file in another unit, or of another series, is refused by its name', () => {
  const rows = ['04/20/2020,1'];
  expect(parse(dnav(rows, 'pet/hist/RWTCD', 'Dollars per Gallon')).refused[0]!.reason).toContain(
    'RWTC is in',
  );
  expect(parse(dnav(rows, 'pet/hist/NOSUCHD')).refused[0]!.reason).toContain('NOSUCHD is not a daily series');
  expect(parse(dnav(['20/20/2020,1', '04/21/2020,abc'])).refused.map(({ where }) => where)).toEqual([
    'line 6',
    'line 7',
  ]);
  expect(() => parse('Day,Price\n04/20/2020,1')).toThrow('no address');
});
