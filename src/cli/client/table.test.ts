import { expect, test } from 'bun:test';
import { aligned, alignedTable, separated, sparkline } from './table.ts';

test('a wide character takes two columns', () => {
  const columns = [{ head: 'name' }, { head: 'price', isNumber: true as const }];
  expect(alignedTable(columns, [['黄金', '2']])).toBe('name  price\n黄金      2');
});

test('thousands are separated, decimals are not', () => {
  expect(['1', '999', '1000', '-1234567.12345', '0.0001'].map(separated)).toEqual([
    '1',
    '999',
    '1,000',
    '-1,234,567.12345',
    '0.0001',
  ]);
});

test('numbers of a column have their points below each other', () => {
  expect(aligned(['4316.92', '83.6', '7'], '0')).toEqual(['4,316.92', '83.60', '7.00']);
  expect(aligned(['4316.92', '83.6', '7'], ' ')).toEqual(['4,316.92', '83.6 ', '7   ']);
  expect(aligned(['1000', '7'], '0')).toEqual(['1,000', '7']);
});

test('texts are aligned at the left and numbers at the right, whatever their colour', () => {
  const columns = [{ head: 'symbol' }, { head: 'price', isNumber: true as const }];
  const rows = [
    ['XAU', '\x1b[32m4,316.92\x1b[0m'],
    ['WTIOIL-FUT', '83.60'],
  ];
  expect(alignedTable(columns, rows)).toBe(
    'symbol         price\nXAU         \x1b[32m4,316.92\x1b[0m\nWTIOIL-FUT     83.60',
  );
});

test('a sparkline goes from the lowest to the highest block', () => {
  expect(sparkline([1, 2, 3, 8])).toBe('▁▂▃█');
  expect(sparkline([5, 5])).toBe('▄▄');
});
