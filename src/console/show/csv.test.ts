import { expect, test } from 'bun:test';
import type { History } from '../data/history.ts';
import { csvOf } from './csv.ts';

test('no text is a formula to a spreadsheet, and a negative price stays a number', () => {
  const bar = { date: '2020-04-20', open: 1, high: 2, low: -40.32, close: -37.63 };
  const csv = csvOf('WTIOIL-FUT', 'USD', { bars: [bar], unit: 'Bbl', source: '=1+1' } as unknown as History);
  expect(csv).toContain("WTIOIL-FUT,2020-04-20,1,2,-40.32,-37.63,Bbl,USD,'=1+1\n");
});
