import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { MarketSymbol, Quote } from '../../api/answers.ts';
import { movingAverage } from '../../charts/moving-average.ts';
import { timeGrid, unionOf } from '../../charts/time-grid.ts';
import { readFormula } from '../../search/read-formula.ts';
import { addDays, daysBetween } from '../days.ts';
import { formulaSymbol } from '../formula.ts';
import { quoteOfFormula } from '../formula-quote.ts';
import { MarketRows } from '../market/rows.ts';
import { isSimulated } from '../simulated.ts';
import { headlineOf } from './headline.ts';
import { INTRADAY_INTERVALS } from './intraday.ts';
import { withNewest } from './live-bars.ts';
import {
  CALENDAR_INTERVALS,
  type CalendarInterval,
  firstDayOf,
  fromWholeInterval,
  intervalFor,
  lastDayOf,
  RANGES,
  shortIntervalFor,
  shortSpan,
  spanBefore,
  withLookback,
} from './span.ts';
import { AVERAGES, CHART_TYPES, type ChartView, paramsOf, readView, SCALES } from './view.ts';

const symbol = (code: string, more: Partial<MarketSymbol> = {}) =>
  ({
    symbol: code,
    updateInterval: 'day',
    firstDate: '1990-01-01',
    lastDate: '2026-01-01',
    currency: { code: 'USD' },
    unit: { symbol: 'Bbl' },
    ...more,
  }) as MarketSymbol;

test('a chart ends today, with the session that trades for tomorrow, or where the prices of its symbol ended', () => {
  const symbol = (firstDate: string, lastDate: string) => ({ firstDate, lastDate }) as MarketSymbol;
  const today = new Date().toISOString().slice(0, 10);
  expect(lastDayOf(symbol('2000-01-01', addDays(today, -3)))).toBe(today);
  expect(lastDayOf(symbol('2000-01-01', addDays(today, 1)))).toBe(addDays(today, 1));
  const ended = symbol('2000-01-01', '2020-06-30');
  expect(lastDayOf(ended)).toBe('2020-06-30');
  expect(firstDayOf('1M', ended)).toBe('2020-05-31');
  expect(firstDayOf('All', ended)).toBe('2000-01-01');
  expect(firstDayOf('5Y', symbol('2020-06-01', '2020-06-30'))).toBe('2020-06-01');
});

const quoteFrom = (source: string, more: Partial<Quote> = {}): Quote => ({
  rate: 1,
  date: '2026-01-01',
  at: '2026-01-01',
  source,
  stale: false,
  open: true,
  before: null,
  ...more,
});

/** The rows of a market with these quotes. */
function rowsOf(quotes: Record<string, Quote>): MarketRows {
  const rows = new MarketRows();
  for (const [code, quote] of Object.entries(quotes)) rows.load(code, quote, []);
  return rows;
}

const bar = (date: string, close: number) => ({ date, open: close, high: close, low: close, close });

test('a headline is simulated if any part of it is: converted at a real rate, or beside a real price in a formula', () => {
  const own = { unit: 'Bbl', factor: 1 };
  const historyFrom = (source: string) =>
    ({ interval: 'day', series: [{ bars: [bar('2026-01-01', 1)], source, quote: 'EUR' }] }) as never;
  const isMarked = (...args: Parameters<typeof headlineOf>) => isSimulated(headlineOf(...args)!.source);
  const oil = symbol('WTIOIL-FUT');
  expect(isMarked(oil, quoteFrom('simulated'), undefined, own, undefined)).toBe(true);
  expect(isMarked(oil, quoteFrom('eia'), undefined, own, undefined)).toBe(false);
  expect(isMarked(oil, quoteFrom('simulated'), historyFrom('simulated, ecb'), own, 'EUR')).toBe(true);
  expect(isMarked(oil, quoteFrom('eia'), historyFrom('eia, ecb'), own, 'EUR')).toBe(false);
  const spread = symbol('{A}-{B}', { formula: '{A}-{B}' });
  const parts = rowsOf({ A: quoteFrom('eia'), B: quoteFrom('simulated', { rate: 2 }) });
  expect(isMarked(spread, quoteOfFormula('{A}-{B}', parts)!, undefined, own, undefined)).toBe(true);
});

test('a headline in another currency has the change since the day before in that currency', () => {
  const quote = quoteFrom('eia', { rate: 80, before: { date: '2025-12-31', close: 70 } });
  const series = { bars: [bar('2025-12-31', 63), bar('2026-01-01', 60)], factor: 0.75, quote: 'EUR' };
  const headline = headlineOf(
    symbol('WTIOIL-FUT'),
    quote,
    { interval: 'day', series: [series] } as never,
    { unit: 'Bbl', factor: 1 },
    'EUR',
  );
  expect(headline).toMatchObject({ rate: 60, before: 63, exchangeRate: 0.75, quote: 'EUR' });
});

test('the quote of a formula is its value at the newest prices, and as old as the oldest of them', () => {
  const at = '2026-01-02T10:00:00Z';
  const before = { date: '2026-01-01', close: 30 };
  const rows = rowsOf({
    A: quoteFrom('x', { rate: 40.1, date: '2026-01-02', at: '2026-01-02T11:00:00Z', before }),
    B: quoteFrom('y', { rate: 0.2, date: '2026-01-02', at, before: { ...before, close: 0.5 } }),
    C: quoteFrom('x', { before: null }),
  });
  const of = (formula: string) => quoteOfFormula(formula, rows);
  expect(of('{A}-{B}')).toMatchObject({
    rate: 39.9,
    at,
    source: 'x, y',
    before: { date: '2026-01-01', close: 29.5 },
  });
  const rates = {
    '{A}/{B}': 200.5,
    '2*({A}+{B})-{A}': 40.5,
    '-{A}*-2': 80.2,
    '{A}-{B}-{B}': 39.7,
    '{B}/2/.5': 0.2,
  };
  for (const [formula, rate] of Object.entries(rates)) expect(of(formula)!.rate, formula).toBe(rate);
  expect(of('{A}+{C}')).toMatchObject({ date: '2026-01-01', at: '2026-01-01', before: null });
  for (const formula of ['{A}/({B}-{B})', '{A}+{D}', '{A}+', '{A} {B}', '(((']) {
    expect(of(formula), formula).toBeUndefined();
  }
});

describe('a view in the URL', () => {
  const maybe = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
  const views: fc.Arbitrary<ChartView> = fc.record({
    range: maybe(RANGES),
    dates: maybe([{ first: '2020-01-01', last: '2021-06-30' }]),
    interval: maybe([...INTRADAY_INTERVALS, ...CALENDAR_INTERVALS]),
    compare: fc.uniqueArray(fc.constantFrom('XAG', 'WTIOIL-FUT', '{XAU}/{XAG}', '{A}*42-{B}'), {
      maxLength: 4,
    }),
    currency: maybe(['EUR', 'USX']),
    unit: maybe(['Kg', '100 MT']),
    type: maybe(CHART_TYPES),
    scale: maybe(SCALES),
    averages: fc.subarray([...AVERAGES]),
  });

  test('is read as it was written', () => {
    fc.assert(
      fc.property(views, (view) => {
        const params = Object.entries(paramsOf(view)).filter(([, value]) => value !== undefined);
        const text = new URLSearchParams(params as [string, string][]).toString();
        expect(readView(new URLSearchParams(text))).toEqual(view);
      }),
    );
  });

  test('leaves out what is not valid', () => {
    const wrong =
      'range=7Y&from=2021-02-30&to=2021-03-01&interval=hours&type=pie&scale=x&average=7,20&compare=,,';
    expect(paramsOf(readView(new URLSearchParams(wrong)))).toEqual({ average: '20' } as never);
    expect(readView(new URLSearchParams('from=2021-03-02&to=2021-03-01')).dates).toBeUndefined();
  });
});

describe('the days of a chart', () => {
  const five = { first: '2020-01-01', last: '2025-01-01' };

  test('fit in one page of 2,000 rows, however many symbols are compared', () => {
    for (const count of [1, 2, 3, 6]) {
      const symbols = Array.from({ length: count }, (_, i) => symbol(String(i)));
      for (const first of ['2024-12-01', '2024-07-01', '2020-01-01', '1990-01-01']) {
        const interval = intervalFor({ first, last: five.last }, symbols);
        const span = withLookback({ first, last: five.last }, interval, symbols, [200]);
        const perBar = { day: 1.4, week: 7, month: 30, quarter: 91, year: 365 }[interval];
        expect(span.first <= first).toBe(true);
        expect((daysBetween(span.first, span.last) / perBar) * count).toBeLessThan(2_000);
      }
    }
  });

  test('are daily for five years of one symbol, weekly for two, and never finer than the prices', () => {
    expect(intervalFor(five, [symbol('A')])).toBe('day');
    expect(intervalFor(five, [symbol('A'), symbol('B')])).toBe('week');
    expect(intervalFor(five, [symbol('A', { updateInterval: 'month' })])).toBe('month');
  });

  test('hold the last 52 weeks, and the bars before the first that an average needs', () => {
    const month = { first: '2024-12-01', last: '2025-01-01' };
    expect(daysBetween(withLookback(month, 'day', [symbol('A')], []).first, month.last)).toBe(370);
    const days = daysBetween(withLookback(five, 'day', [symbol('A')], [200]).first, five.first);
    expect(days).toBeGreaterThan(280);
    const young = symbol('A', { firstDate: '2024-11-15' });
    expect(withLookback(month, 'day', [young], [200]).first).toBe('2024-11-15');
    const before = { first: '2024-01-01', last: '2024-02-01' };
    expect(withLookback(before, 'day', [young], [200])).toEqual(before); // without prices, but not upside down
  });

  test('before the loaded ones end where these begin, and end with the history', () => {
    const before = spanBefore(five, 'day', [symbol('A')])!;
    expect(before.last).toBe('2019-12-31');
    expect(before.first < '2013-01-01').toBe(true);
    expect(spanBefore({ first: '1990-01-01', last: '2000-01-01' }, 'day', [symbol('A')])).toBeUndefined();
  });
});

test('bars longer than a day are loaded whole, and those before them end where they begin', () => {
  const span = { first: '2021-11-17', last: '2026-11-17' };
  const starts = { week: '2021-11-15', month: '2021-11-01', quarter: '2021-10-01', year: '2021-01-01' };
  for (const [interval, start] of Object.entries(starts) as [CalendarInterval, string][]) {
    const loaded = withLookback(span, interval, [symbol('A'), symbol('B')], []);
    expect(loaded.first).toBe(start);
    expect(spanBefore(loaded, interval, [symbol('A')])!.last).toBe(addDays(start, -1));
    expect(fromWholeInterval(span, interval).first).toBe(start);
  }
});

describe('the minutes of a chart', () => {
  test('end with the newest price, so that a weekend is not empty', () => {
    expect(shortSpan('1D', '2024-05-17T20:59:30Z').first).toBe('2024-05-16T20:59:30Z');
    expect(shortSpan('5D', '2024-05-17T20:59:30Z').first).toBe('2024-05-10T20:59:30Z');
    expect(shortSpan('1D', '2024-05-17').first).toBe('2024-05-16T23:59:59Z'); // only its day is known
  });

  test('fit in one page of 2,000 rows, however many symbols are compared', () => {
    for (const [range, minutes] of [
      ['1D', 1_440],
      ['5D', 5 * 1_440],
    ] as const) {
      for (const count of [1, 2, 4, 6]) {
        const symbols = Array.from({ length: count }, (_, i) => symbol(String(i)));
        const perBar = { minute: 1, '5min': 5, '15min': 15, hour: 60 }[shortIntervalFor(range, symbols)];
        expect((minutes / perBar) * count).toBeLessThan(2_000);
      }
    }
    expect(shortIntervalFor('1D', [symbol('A')])).toBe('5min');
    expect(shortIntervalFor('5D', [symbol('A')])).toBe('15min');
  });

  test('before the loaded ones end a second before these begin', () => {
    const span = { first: '2024-05-16T12:00:00Z', last: '2024-05-17T23:59:59Z' };
    expect(spanBefore(span, 'hour', [symbol('A')])!.last).toBe('2024-05-16T11:59:59Z');
    expect(spanBefore({ ...span, first: '' }, 'hour', [symbol('A')])).toBeUndefined(); // none are left
    expect(withLookback(span, '5min', [symbol('A')], [20]).first).toBe('2024-05-16T10:20:00Z');
  });

  test('have the newest price in the bar of its time', () => {
    const series = { bars: [bar('2026-01-02T10:00:00Z', 50)], factor: 1 } as never;
    const quote = (at: string) => ({ rate: 60, date: '2026-01-02', at }) as never;
    const same = withNewest(series, '5min', quote('2026-01-02T10:04:59.900Z'), true);
    expect(same).toEqual([{ date: '2026-01-02T10:00:00Z', open: 50, high: 60, low: 50, close: 60 }]);
    const next = withNewest(series, '5min', quote('2026-01-02T10:05:00Z'), true);
    expect(next.at(-1)).toEqual(bar('2026-01-02T10:05:00Z', 60));
    expect(withNewest(series, '5min', quote('2026-01-02'), true)).toHaveLength(1); // a close has no time
  });
});

describe('the times of a chart', () => {
  test('monthly prices before daily ones are as far apart as they were', () => {
    const days = ['2020-03-02', '2020-03-03', '2020-03-04'];
    const grid = timeGrid(['2020-01-01', '2020-02-03', ...days], 'day');
    expect(grid.indexOf('2020-02-03') - grid.indexOf('2020-01-01')).toBe(23); // weekdays
    expect(grid.slice(-3)).toEqual(days);
    expect(grid.toSorted()).toEqual(grid);
  });

  test('a missing month keeps its place, and holidays take none', () => {
    expect(timeGrid(['2020-01-01', '2020-03-01'], 'month')).toEqual([
      '2020-01-01',
      '2020-02-01',
      '2020-03-01',
    ]);
    expect(timeGrid(['2020-12-24', '2020-12-28'], 'day')).toEqual(['2020-12-24', '2020-12-28']);
    expect(timeGrid(['2020-01-06', '2020-01-27'], 'week')).toHaveLength(4);
  });

  test('of several symbols are each there once, in order', () => {
    expect(
      unionOf([
        ['2020-01-01', '2020-01-03'],
        ['2020-01-02', '2020-01-03'],
      ]),
    ).toEqual(['2020-01-01', '2020-01-02', '2020-01-03']);
  });
});

test('a moving average is the mean of the last closes, from the first bar that has as many', () => {
  const closes = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { maxLength: 40 });
  fc.assert(
    fc.property(closes, fc.integer({ min: 1, max: 10 }), (values, length) => {
      const bars = values.map((close, i) => bar(addDays('2020-01-01', i), close));
      const points = movingAverage(bars, length);
      expect(points).toHaveLength(Math.max(0, values.length - length + 1));
      for (const [i, { date, value }] of points.entries()) {
        const window = values.slice(i, i + length);
        expect(date).toBe(bars[i + length - 1]!.date);
        expect(value).toBeCloseTo(window.reduce((sum, one) => sum + one, 0) / length, 4);
      }
    }),
  );
});

test('the newest price is converted as the last bar is, and only changes bars of days that go on', () => {
  const series = { bars: [bar('2026-01-01', 50), bar('2026-01-02', 60)], factor: 0.5 } as never;
  const quote = { rate: 140, date: '2026-01-02' } as never;
  expect(withNewest(series, 'day', quote, true).at(-1)).toMatchObject({ low: 60, high: 70, close: 70 });
  expect(withNewest(series, 'day', { rate: 1, date: '2026-01-05' } as never, true)).toHaveLength(3);
  const weeks = { bars: [bar('2025-12-29', 60)], factor: 0.5 } as never;
  expect(withNewest(weeks, 'week', quote, true)).toMatchObject([{ open: 60, high: 70, close: 70 }]);
  expect(withNewest(series, 'day', quote, false).at(-1)!.close).toBe(60);
});

describe('a formula', () => {
  const codeOf = (text: string) =>
    ({ XAU: 'XAU', XAG: 'XAG', GOLD: 'XAU', 'WTIOIL-FUT': 'WTIOIL-FUT' })[text];

  test('is read with braces or without', () => {
    expect(readFormula('xau/xag', codeOf)).toBe('{XAU}/{XAG}');
    expect(readFormula('gold / xag', codeOf)).toBe('{XAU}/{XAG}');
    expect(readFormula('{gold} / {XAG}', codeOf)).toBe('{XAU}/{XAG}');
    expect(readFormula('WTIOIL-FUT - XAU*42', codeOf)).toBe('{WTIOIL-FUT}-{XAU}*42');
    expect(readFormula('(xau + xag)/2', codeOf)).toBe('({XAU}+{XAG})/2');
    expect(readFormula('-xau + {gold}', codeOf)).toBe('-{XAU}+{XAU}');
  });

  test('is read with a minus without blanks, although codes have hyphens', () => {
    expect(readFormula('XAU-XAG', codeOf)).toBe('{XAU}-{XAG}');
    expect(readFormula('xau-wtioil-fut', codeOf)).toBe('{XAU}-{WTIOIL-FUT}');
    expect(readFormula('wtioil-fut-xau*2-1', codeOf)).toBe('{WTIOIL-FUT}-{XAU}*2-1');
    expect(readFormula('{XAU}-{XAG}', codeOf)).toBe('{XAU}-{XAG}');
  });

  test('is nothing while it is incomplete', () => {
    for (const text of [
      'xau/',
      '{XAU}-',
      '{XAU}-{',
      '(xau+xag',
      'xau)',
      'xau-',
      '*xau',
      'xau//xag',
      '{XAU}{XAG}',
      '2*',
    ]) {
      expect(readFormula(text, codeOf), text).toBeUndefined();
    }
  });

  test('is nothing that names no symbol or no operation', () => {
    for (const text of ['xau', 'WTIOIL-FUT', '1+2', 'nope/xau', '{NOPE}-{XAU}', 'gold silver', '']) {
      expect(readFormula(text, codeOf), text).toBeUndefined();
    }
  });

  test('has the history that its symbols have in common, and their unit if they share one', () => {
    const symbols = [
      symbol('A', { firstDate: '2000-01-01', lastDate: '2026-01-05' }),
      symbol('B-FUT', { firstDate: '2010-01-01', lastDate: '2026-01-01' }),
    ];
    const found = formulaSymbol('{A}-{B-FUT}', symbols);
    expect(found).toMatchObject({ name: 'A - B-FUT', firstDate: '2010-01-01', lastDate: '2026-01-01' });
    expect(found!.unit.symbol).toBe('Bbl');
    expect(formulaSymbol('{A}/{B-FUT}', symbols)!.unit.symbol).toBe('none');
    expect(formulaSymbol('{A}/{C}', symbols)).toBeUndefined();
  });
});
