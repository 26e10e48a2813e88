import { expect, test } from 'bun:test';
import { closes, parse } from '../../../test/support/feeds/staged-text.ts';

test('a row that lacks some of its four prices is refused; one that lacks all is without a value', async () => {
  const text =
    'date,open,high,low,close\n2026-01-02,1,2,,2\n2026-01-05,,,,2\n2026-01-06,.,N/A,,\n2026-01-07,1,2\n2026-01-08,1,2,1,2\n';
  const { bars, missing, refused } = await parse(text);
  expect([bars.length, missing]).toEqual([1, 1]);
  expect(refused).toEqual([
    { line: 2, reason: 'it has no low; --value-column imports one price of each row' },
    { line: 3, reason: 'it has no open, high and low; --value-column imports one price of each row' },
    { line: 5, reason: 'it has no low and close; --value-column imports one price of each row' },
  ]);
});

test.each([
  ['05/06/24', 'the year must have four digits'],
  ['6-May-24', 'the year must have four digits'],
  ['45418', 'if it is a day number of a spreadsheet, format its column as dates'],
])('%s is refused as a date, with what to do about it', async (date, advice) => {
  const { refused } = await parse(`date,close\n${date},1\n`);
  expect(refused).toEqual([{ line: 2, reason: `"${date}" is not a date; ${advice}` }]);
});

test('a quote that is not closed is reported with its line', async () => {
  const text = 'date,note,close\n2026-01-02,"a\nb",1\n2026-01-05,"open,2\n2026-01-06,,3\n';
  await expect(parse(text)).rejects.toThrow('a quote in line 4 is not closed; the file may be truncated');
});

test('an unknown symbol in a column is reported with its line', async () => {
  const symbolOf = (code: string, line: number) => {
    throw new Error(`line ${line}: ${code}`);
  };
  const text = 'code,date,close\n\nFOO,2026-01-02,1\n';
  await expect(parse(text, { columns: { symbol: 'code' }, symbolOf })).rejects.toThrow('line 3: FOO');
});

test.each([
  ['thousands', 'date,close\n2026-01-02,1,234.50\n', 2],
  ['thousands with a sign of a currency', 'date,close\n2026-01-02,$1,234.50\n', 2],
  ['a decimal comma', 'date,close\n2026-01-02,12,5\n', 2],
  ['thousands before another column', 'date,close,volume\n2026-01-02,1,234.50,9\n', 3],
])('a row in which an unquoted comma splits the price is refused: %s', async (_, text, columns) => {
  expect(await parse(text)).toEqual({
    bars: [],
    missing: 0,
    refused: [
      {
        line: 2,
        reason: `it has ${columns + 1} cells, but the header has ${columns}: a number that contains the separator must be quoted`,
      },
    ],
  });
});

test('cells beyond the header that are empty or text do not matter', async () => {
  const text = 'date,close\n2026-01-02,70.5,\n2026-01-05,71,preliminary\n2026-01-06,72\n';
  expect(await closes(text)).toEqual([
    ['2026-01-02', 70.5],
    ['2026-01-05', 71],
    ['2026-01-06', 72],
  ]);
});
