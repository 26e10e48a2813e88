import { afterAll, afterEach, expect, spyOn, test } from 'bun:test';
import { ExportProgress } from './export-progress.ts';

const printed = spyOn(console, 'error').mockImplementation(() => {});
afterEach(() => printed.mockClear());
afterAll(() => printed.mockRestore());

test.each([
  [0, /^0 rows \(/],
  [1, /^1 row \(/],
  [2_500, /^2,500 rows \(/],
])('an export of %i says how many rows it has', (rows, expected) => {
  const progress = new ExportProgress();
  progress.rows = rows;
  progress.end();
  expect(printed.mock.lastCall![0]).toMatch(expected);
});
