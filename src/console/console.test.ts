import { describe, expect, test } from 'bun:test';
import type { MarketSymbol } from './api/answers.ts';
import { addDays, daysBetween, spans } from './data/days.ts';
import { changeOf, MarketRows } from './data/market/rows.ts';
import { type Sorting, sorted } from './data/market/sorting.ts';
import { correctionsOf, markedDays } from './data/revisions.ts';
import { readRoute } from './data/route.ts';
import {
  ago,
  computedPrice,
  duration,
  masked,
  percentTrend,
  price,
  priceWith,
  signed,
  timeUntil,
} from './show/format.ts';
import { snippet } from './show/snippets.ts';

describe('spans', () => {
  test('cover every day once, are no longer than allowed, and end where asked', () => {
    for (const length of [0, 1, 30, 31, 61, 62, 400]) {
      const parts = spans('2020-01-01', addDays('2020-01-01', length), 30);
      expect(parts[0]![0]).toBe('2020-01-01');
      expect(parts.at(-1)![1]).toBe(addDays('2020-01-01', length));
      for (const [first, last] of parts) expect(daysBetween(first, last)).toBeLessThanOrEqual(30);
      for (let i = 1; i < parts.length; i++) expect(parts[i]![0]).toBe(addDays(parts[i - 1]![1], 1));
    }
  });
});

describe('what is shown', () => {
  test('the zero of an axis has no sign, although adding up its steps misses it by a rounding error', () => {
    expect([0.6 - 0.2 - 0.2 - 0.2, -0.004, -0.006].map((value) => priceWith(value, 2))).toEqual([
      '0.00',
      '0.00',
      '−0.01',
    ]);
  });

  test('a price keeps its decimals, and has two at least', () => {
    expect([4363.4, 0.68809, -37.63, 143557].map(price)).toEqual([
      '4,363.40',
      '0.68809',
      '−37.63',
      '143,557.00',
    ]);
  });

  test('a price has all its digits, however small it is', () => {
    expect([1234.12345678, 0.00000012, 1.5e-9].map(price)).toEqual([
      '1,234.12345678',
      '0.00000012',
      '0.0000000015',
    ]);
  });

  test('a computed price has six significant digits, however small it is, and two decimals at least', () => {
    expect([4363.4, 12.5, 0.97, 0.0000882, 0].map(computedPrice)).toEqual([
      '4,363.40',
      '12.5000',
      '0.970000',
      '0.0000882000',
      '0.00',
    ]);
  });

  test('a change has a sign, also when it rounds to nothing', () => {
    expect([1.234, -0.5, 0, 0.001].map((value) => signed(value))).toEqual([
      '+1.23',
      '−0.50',
      '±0.00',
      '±0.00',
    ]);
  });

  test('a change in percent has the colour of what is shown', () => {
    expect([0.01, -0.01, 0.004, -0.004, undefined].map(percentTrend)).toEqual([
      'rise',
      'fall',
      'flat',
      'flat',
      'flat',
    ]);
  });

  test('a moment is told as how long ago, a day as a day', () => {
    const now = Date.parse('2024-05-15T16:00:00Z');
    expect(ago('2024-05-15T15:59:58Z', now)).toBe('now');
    expect(ago('2024-05-15T15:50:00Z', now)).toBe('10 min ago');
    expect(ago('2024-05-14', now)).toBe('14 May 2024');
  });

  test('the change is against the close before, and none without one', () => {
    const before = { date: '2024-05-14', close: -40 };
    expect(changeOf({ rate: -20, before })).toEqual({ absolute: 20, percent: 50 });
    expect(changeOf({ rate: -20, before: null })).toBeUndefined();
    expect(changeOf({ rate: -20, before: { ...before, close: 0 } })).toBeUndefined();
  });
});

test('an address leads to its page, whatever is in it', () => {
  expect(readRoute('')).toEqual({ page: 'market', rest: '' });
  expect(readRoute('#/market?q=gold/silver')).toEqual({ page: 'market', rest: '' });
  expect(readRoute('#/symbol/XAU?range=5Y')).toEqual({ page: 'symbol', rest: 'XAU' });
  expect(readRoute('#/symbol/WTIOIL-FUT')).toEqual({ page: 'symbol', rest: 'WTIOIL-FUT' });
  expect(readRoute('#/symbol/%E0%A4%A')).toEqual({ page: 'symbol', rest: '%E0%A4%A' });
});

test('a key is not spelled out on the screen, and a request can be pasted', () => {
  const key = 'pit_live_0123456789abcdefghijABCDEFGHIJ012345';
  expect(masked(key)).toBe('pit_live_…2345');
  expect(snippet('curl', 'http://x', '/rates/latest?symbols=XAU%2CXAG', key)).toBe(
    `curl -H 'x-api-key: ${key}' \\\n  'http://x/rates/latest?symbols=XAU,XAG'`,
  );
});

test('the formula for a spreadsheet works in every locale, and reads . as the decimal point', () => {
  expect(snippet('Spreadsheet', 'http://x', '/rates/latest?symbols=XAU', 'pit_live_0')).toBe(
    '=IMPORTDATA("http://x/rates/latest?symbols=XAU&format=csv&apiKey=pit_live_0"; ","; "en_US")',
  );
});

test('the market is sorted by change, and symbols without one come last', () => {
  const symbols = ['A', 'B', 'C', 'D'].map((symbol) => ({ symbol }) as MarketSymbol);
  const rates: Record<string, number> = { A: 110, B: 90, C: 130 };
  const rows = new MarketRows();
  for (const [code, rate] of Object.entries(rates)) {
    const before = { date: '2024-05-14', close: 100 };
    rows.load(code, { rate, before, date: '2024-05-15', at: '', source: '', stale: false, open: true }, []);
  }
  const codes = (sorting: Sorting) => sorted(symbols, sorting, rows).map(({ symbol }) => symbol);
  expect(codes('Name')).toEqual(['A', 'B', 'C', 'D']);
  expect(codes('Top gainers')).toEqual(['C', 'A', 'B', 'D']);
  expect(codes('Top losers')).toEqual(['B', 'A', 'C', 'D']);
});

describe('corrections', () => {
  const version = (close: number, reason: string | null = null) => ({
    open: 1,
    high: 9,
    low: 0,
    close,
    source: 'test',
    recordedAt: `2024-05-0${close}T00:00:00Z`,
    reason,
  });
  const of = (...versions: ReturnType<typeof version>[]) => correctionsOf('2024-05-08', versions);

  test('a version with other prices is one; the close after a settlement and the same prices again are none', () => {
    expect(of(version(1), version(2), version(2), version(3))).toMatchObject([
      { before: 1, after: 2 },
      { before: 2, after: 3 },
    ]);
    expect(of(version(1, 'settlement'), version(2, 'session close'))).toEqual([]);
    expect(of(version(1, 'session close'), version(2, 'late ticks'))).toHaveLength(1);
    expect(of(version(1))).toEqual([]);
  });

  test('mark the bar that holds their day, once, also where a bar is a week', () => {
    const bar = { open: 1, high: 1, low: 1, close: 1 };
    const weeks = ['2024-05-06', '2024-05-13'].map((date) => ({ date, ...bar }));
    const found = of(version(1), version(2), version(3));
    expect(markedDays(found, weeks)).toEqual(['2024-05-06']);
    expect(markedDays(found, [{ date: '2024-05-09', ...bar }])).toEqual([]);
  });
});

test('how long until and how long for are told in the unit that fits', () => {
  const now = Date.parse('2024-05-15T16:00:00Z');
  expect(timeUntil('2024-05-15T16:00:30Z', now)).toBe('in 30 s');
  expect(timeUntil('2024-05-15T21:00:00Z', now)).toBe('in 5 h');
  expect(timeUntil('2024-05-15T15:00:00Z', now)).toBe('due now');
  expect([0, 60, 600, 3_600, 5_400, 90_000, 400_000].map(duration)).toEqual([
    'none',
    '60 s',
    '10 min',
    '1 h',
    '90 min',
    '25 h',
    '5 days',
  ]);
});
