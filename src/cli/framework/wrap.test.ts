import { expect, test } from 'bun:test';
import { beside, definitions, outputWidth, wrap } from './wrap.ts';

const OPTIONS = [
  ['--symbols CODES', 'Symbols or formulas, separated by commas'],
  ['-h, --help', 'Show this help'],
] as const;

test('what a program reads is not wrapped, and lines on a wide terminal end at 100 columns', () => {
  expect(outputWidth({ isTTY: false, columns: 80 })).toBe(Number.POSITIVE_INFINITY);
  expect(outputWidth({ isTTY: true, columns: 0 })).toBe(Number.POSITIVE_INFINITY); // it does not know its width
  expect(outputWidth({ isTTY: true, columns: 72 })).toBe(72);
  expect(outputWidth({ isTTY: true, columns: 250 })).toBe(100);
});

test('a text is wrapped beside its name', () => {
  expect(definitions(OPTIONS, 50)).toBe(
    [
      '  --symbols CODES  Symbols or formulas, separated',
      '                   by commas',
      '  -h, --help       Show this help',
    ].join('\n'),
  );
  expect(definitions(OPTIONS, Number.POSITIVE_INFINITY).split('\n')[0]).toBe(
    '  --symbols CODES  Symbols or formulas, separated by commas',
  );
});

test('where there is little room, it begins below', () => {
  expect(definitions(OPTIONS, 40)).toBe(
    [
      '  --symbols CODES',
      '      Symbols or formulas, separated by',
      '      commas',
      '  -h, --help',
      '      Show this help',
    ].join('\n'),
  );
  expect(beside('', 20, '→ set it', 30)).toBe('      → set it');
});

test('a word that is longer than a line stays whole, to be copied', () => {
  expect(wrap('see https://rates.example.com/docs for more', 12, '  ')).toBe(
    'see\n  https://rates.example.com/docs\n  for more',
  );
});
