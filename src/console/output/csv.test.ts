import { expect, test } from 'bun:test';
import type { ChartSeries } from '../data/chart/history.ts';
import { csvOf, fileName } from './csv.ts';

test('no text is a formula to a spreadsheet, and a negative price stays a number', () => {
  const bar = { date: '2020-04-20', open: 1, high: 2, low: -40.32, close: -37.63 };
  const series = {
    symbol: { symbol: 'WTIOIL-FUT' },
    bars: [bar],
    unit: 'Bbl',
    quote: 'USD',
    source: '=1+1',
  } as unknown as ChartSeries;
  const csv = csvOf([series], { first: '2020-01-01', last: '2020-12-31' });
  expect(csv).toContain("WTIOIL-FUT,2020-04-20,1,2,-40.32,-37.63,Bbl,USD,'=1+1\n");
});

test('a CSV has a head, one row for each bar in the range, and quotes what needs it', () => {
  const bar = (date: string) => ({ date, open: 1, high: 2, low: 0.5, close: 1.5 });
  const series = {
    symbol: { symbol: 'XAU' },
    bars: [bar('2024-05-13'), bar('2024-05-14')],
    unit: 'T.oz',
    quote: 'USD',
    source: 'a, "b"',
  } as unknown as ChartSeries;
  expect(csvOf([series], { first: '2024-05-14', last: '2024-05-15' })).toBe(
    'symbol,date,open,high,low,close,unit,quote,source\nXAU,2024-05-14,1,2,0.5,1.5,T.oz,USD,"a, ""b"""\n',
  );
});

test('a file is named for its symbols, and for those in a formula', () => {
  const series = ['XAU', '{XAU}/{XAG}'].map((symbol) => ({ symbol: { symbol } }) as unknown as ChartSeries);
  expect(fileName(series, 'week', 'csv')).toBe('XAU-XAU_XAG-week.csv');
});
