import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseDay, printDay } from '../market/day.ts';
import { type CsvMapping, parseCsv } from './csv.ts';
import { splitRows } from './formats/table.ts';

const LATEST = parseDay('2026-11-17')!;
const parse = (text: string, mapping: CsvMapping = {}) => parseCsv(text, LATEST, mapping);
const closes = (text: string, mapping: CsvMapping = {}) =>
  parse(text, mapping).bars.map(({ day, close }) => [printDay(day), close]);

describe('layout', () => {
  const expected = [
    ['2026-01-02', 70.5],
    ['2026-01-05', -36.98],
  ];
  test.each([
    ['plain', 'date,close\n2026-01-02,70.5\n2026-01-05,-36.98\n'],
    ['a mark, CRLF and no newline at the end', '\uFEFFDate,Price\r\n2026-01-02,70.5\r\n2026-01-05,-36.98'],
    ['descending, with blank lines', 'date,close\n\n2026-01-05,-36.98\n\n2026-01-02,70.5\n\n\n'],
    ['semicolons and decimal commas', 'Date;Close\n2026-01-02;70,5\n2026-01-05;-36,98\n'],
    ['tabs', 'DATE\tVALUE\n2026-01-02\t70.5\n2026-01-05\t-36.98\n'],
    ['quotes', '"Date","Close"\n"2026-01-02","70.5"\n"2026-01-05","-36.98"\n'],
    ['more columns than needed', 'id,close,date,volume\n1,70.5,2026-01-02,9\n2,-36.98,2026-01-05,9\n'],
    [
      'a note at the end',
      'date,close\n2026-01-02,70.5\n2026-01-05,-36.98\n* not seasonally adjusted\nSource: EIA\n',
    ],
    ['a line for Excel', 'sep=;\ndate;close\n2026-01-02;70.5\n2026-01-05;-36.98\n'],
    ['days in words', 'Date,Close\n"Jan 02, 2026",70.5\n5 January 2026,-36.98\n'],
    ['midnights', 'timestamp,close\n2026-01-02T00:00:00Z,70.5\n2026-01-05 00:00:00-05:00,-36.98\n'],
  ])('%s', (_name, text) => {
    expect(closes(text)).toEqual(expected);
    expect(parse(text).refused).toEqual([]);
  });

  test('EIA: lines before the header, month first, descending', () => {
    const text =
      'Cushing OK WTI Spot Price FOB\nhttps://www.eia.gov/dnav/pet/hist/RWTCD.htm\n22:36:25 GMT-0400 (Eastern Daylight Time)\nData Source: Thomson Reuters\nDay,Cushing OK WTI Spot Price FOB  Dollars per Barrel\n01/5/2026,-36.98\n01/2/2026,70.5\n12/31/2025,71 ';
    expect(closes(text)).toEqual([['2025-12-31', 71], ...expected]);
  });

  test('prices of several kinds: open, high, low and a close by another name', () => {
    const text =
      '"Date","Price","Open","High","Low","Vol.","Change %"\n"01/13/2026","70.5","70","71","69","144.15K","0.5%"\n';
    expect(parse(text).bars).toEqual([
      { symbol: '', day: parseDay('2026-01-13')!, open: 70, high: 71, low: 69, close: 70.5 },
    ]);
  });

  test('columns are named by the operator where the header does not tell', () => {
    const text = 'Tag,A,B\n2026-01-02,1,2\n';
    expect(() => parse(text)).toThrow('--date-column');
    expect(() => parse(text, { columns: { date: 'tag' } })).toThrow('--value-column');
    expect(closes(text, { columns: { date: 'TAG', value: 'b' } })).toEqual([['2026-01-02', 2]]);
    expect(closes(text, { columns: { date: 'tag', value: '2' } })).toEqual([['2026-01-02', 1]]);
    expect(() => parse(text, { columns: { date: 'tag', value: 'C' } })).toThrow(
      'no column "C" (it has Tag, A, B)',
    );
    const bars = 'day;a;b;c;d\n2026-01-02;1;4;0;2\n';
    expect(parse(bars, { columns: { ohlc: ['a', 'b', 'c', 'd'] } }).bars[0]).toMatchObject({
      high: 4,
      close: 2,
    });
  });

  test('a symbol column: the same day of two symbols is two bars', () => {
    const text = 'symbol,date,close\nxau,2026-01-02,4000\nXAG,2026-01-02,70\n,2026-01-02,1\n';
    const { bars, refused } = parse(text, { columns: { symbol: 'Symbol' } });
    expect(bars.map(({ symbol, close }) => [symbol, close])).toEqual([
      ['XAU', 4000],
      ['XAG', 70],
    ]);
    expect(refused).toEqual([{ line: 4, reason: 'it names no symbol' }]);
  });
});

describe('the order of day and month', () => {
  test('one value above 12 settles it for the file', () => {
    expect(closes('date,close\n03/04/2026,1\n13/04/2026,2\n')).toEqual([
      ['2026-04-03', 1],
      ['2026-04-13', 2],
    ]);
    expect(closes('date,close\n03/04/2026,1\n04/13/2026,2\n')[0]).toEqual(['2026-03-04', 1]);
    expect(closes('date;close\n03.04.2026;1\n31.03.2026;2\n')[0]).toEqual(['2026-03-31', 2]);
  });

  test('without one the file is refused, unless the operator says it or it does not matter', () => {
    const text = 'date,close\n03/04/2026,1\n05/06/2026,2\n';
    expect(() => parse(text)).toThrow('--date-order');
    expect(closes(text, { dateOrder: 'dmy' })[0]).toEqual(['2026-04-03', 1]);
    expect(closes(text, { dateOrder: 'mdy' })[0]).toEqual(['2026-03-04', 1]);
    expect(closes('date,close\n03/03/2026,1\n')).toEqual([['2026-03-03', 1]]);
  });

  test('a file with both orders is refused', () => {
    expect(() => parse('date,close\n13/04/2026,1\n04/14/2026,2\n')).toThrow('same order');
  });

  test('a year of two digits is not a day', () => {
    expect(parse('date,close\n03/14/26,1\n').refused).toEqual([
      { line: 2, reason: '"03/14/26" is not a day' },
    ]);
  });
});

describe('timestamps', () => {
  test('belong to the day that is written, or to the day in the zone that is given', () => {
    const text = 'time,close\n2026-01-02T23:30:00Z,1\n';
    expect(closes(text)[0]![0]).toBe('2026-01-02');
    expect(closes(text, { zone: 'Asia/Shanghai' })[0]![0]).toBe('2026-01-03');
    expect(closes('time,close\n1767398400,1\n')[0]![0]).toBe('2026-01-03');
    expect(closes('time,close\n1767398400000,1\n', { zone: 'America/New_York' })[0]![0]).toBe('2026-01-02');
    expect(closes('time,close\n01/13/2026 4:00 PM,1\n')[0]![0]).toBe('2026-01-13');
  });

  test('months are their first day', () => {
    expect(closes('period,value\n2026-M02,2\n2026-01,1\nMar 2026,3\n')).toEqual([
      ['2026-01-01', 1],
      ['2026-02-01', 2],
      ['2026-03-01', 3],
    ]);
  });
});

describe('numbers', () => {
  const value = (text: string, delimiter = ',') =>
    closes(`date${delimiter}close\n2026-01-02${delimiter}${text}\n`)[0]?.[1];
  test.each([
    ['"1,234.5"', 1234.5],
    ['"1,234"', 1234],
    ['"12,345,678.9"', 12345678.9],
    ['144.15K', 144150],
    ['1.2M', 1200000],
    ['−37.63', -37.63],
    ['1 234.5', 1234.5],
    ["1'234.5", 1234.5],
    ['1.5e-3', 0.0015],
    ['+7', 7],
    ['"12,5"', 12.5],
  ])('%s is %p', (text, expected) => {
    expect(value(text)).toBe(expected);
  });

  test('a decimal comma is known by a number that can be nothing else', () => {
    expect(value('1.234,56', ';')).toBe(1234.56);
    expect(value('0,123', ';')).toBe(0.123);
    expect(closes('date;close\n2026-01-02;1.234\n2026-01-05;12,5\n').map(([, close]) => close)).toEqual([
      1234, 12.5,
    ]);
    const { refused } = parse('date;close\n2026-01-02;1,234\n');
    expect(refused[0]!.reason).toContain('--decimal');
    expect(closes('date;close\n2026-01-02;1,234\n', { decimal: 'comma' })).toEqual([['2026-01-02', 1.234]]);
    expect(() => parse('date;close\n2026-01-02;12,5\n2026-01-05;12.5\n')).toThrow('--decimal');
  });

  test.each(['', '.', 'null', 'N/A', 'NaN', '-', '…', '#N/A'])('"%s" is missing and not zero', (text) => {
    expect(parse(`date,close\n2026-01-02,${text}\n`)).toEqual({ bars: [], missing: 1, refused: [], odd: [] });
  });

  test.each(['abc', '1.2.3', '5%', '0x10', 'Infinity', '"1,23,4.5"'])('%s is no number', (text) => {
    expect(parse(`date,close\n2026-01-02,${text}\n2026-01-03,1.5\n`).refused.length).toBe(1);
  });
});

test('weekend rows are kept; bars that do not fit together are kept and flagged', () => {
  const { bars, odd } = parse('date,open,high,low,close\n2026-01-03,5,4,1,2\n2026-01-04,2,3,1,2\n');
  expect(bars.length).toBe(2);
  expect(odd).toEqual([{ line: 2, reason: 'open 5, high 4, low 1, close 2 do not fit together' }]);
});

test('a day twice: once when equal, not at all when not; a day to come is refused', () => {
  const { bars, refused } = parse(
    'date,close\n2026-01-02,5\n2026-01-02,5\n2026-01-03,5\n2026-01-03,6\n2999-01-01,1\n',
  );
  expect(bars.map((bar) => printDay(bar.day))).toEqual(['2026-01-02']);
  expect(refused.map(({ line }) => line)).toEqual([5, 6]);
  expect(refused[0]!.reason).toBe('2026-01-03 has two prices, 5 (line 4) and 6 (line 5); neither is taken');
});

test.each([
  ['', 'empty'],
  ['<!DOCTYPE html><html></html>', 'web page'],
  ['a,b\n1,2\n', '"date"'],
  ['date,close\n"2026-01-02,5\n', 'cut off'],
])('a file that is something else is refused with the reason (%#)', (text, reason) => {
  expect(() => parse(text)).toThrow(reason);
});

test('law: text without quotes is split the same by the fast way and by the library', () => {
  const cell = fc.stringMatching(/^[a-z0-9 .;-]{0,6}$/);
  const lines = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(lines, fc.constantFrom('\n', '\r\n', '\r'), (rows, end) => {
      const text = rows.map((cells) => cells.join(',')).join(end);
      const quoted = [...splitRows(`${text}${end}"q"`, ',', 1)].slice(0, -1);
      expect([...splitRows(text, ',', 1)]).toEqual(quoted);
    }),
    { numRuns: 300 },
  );
});
