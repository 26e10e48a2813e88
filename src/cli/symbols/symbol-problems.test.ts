import { expect, test } from 'bun:test';
import { SYMBOL_FILE } from '../../ledger/symbols/symbol-schema.ts';
import { symbolProblems } from './symbol-problems.ts';

const GOOD = {
  code: 'ABC',
  name: 'A',
  category: 'Metals',
  currency: { code: 'USD', name: 'US dollar', symbol: '$' },
  unit: { symbol: 'kg', name: 'kilogram' },
  market: 'LME',
  decimals: 2,
  updateInterval: 'day',
};

const problemsOf = (file: unknown) => symbolProblems(SYMBOL_FILE.safeParse(file).error!, file).trim();

test.each([
  [{}, 'it must be a list: [{"code": …}, …]'],
  [[1], 'symbol 1: it must be an object'],
  [[GOOD, { ...GOOD, name: undefined }], 'symbol 2 ("ABC"): name is missing: it must be a text'],
  [[{ ...GOOD, name: ' ' }], 'symbol 1 ("ABC"): name must not be empty (received " ")'],
  [
    [{ ...GOOD, name: 'x'.repeat(201) }],
    `name may have at most 200 characters (received "${'x'.repeat(60)}"…)`,
  ],
  [
    [{ ...GOOD, code: 'a' }],
    'symbol 1 ("a"): code must be at most 32 capital letters, digits, dots and dashes',
  ],
  [[{ ...GOOD, bogus: 1 }], 'symbol 1 ("ABC"): there is no field bogus'],
  [[{ ...GOOD, unit: { ...GOOD.unit, size: 1 } }], 'symbol 1 ("ABC"): there is no field unit.size'],
  [[{ ...GOOD, unit: { symbol: 'kg' } }], 'unit.name is missing: it must be a text'],
  [
    [{ ...GOOD, updateInterval: 'dayly' }],
    'updateInterval must be one of minute, day, week, month (received "dayly")',
  ],
  [[{ ...GOOD, market: undefined }], 'market is missing: it must be one of NYMEX, COMEX,'],
  [[{ ...GOOD, decimals: 1.5 }], 'decimals must be a whole number (received 1.5)'],
  [[{ ...GOOD, decimals: 13 }], 'decimals must be at most 12 (received 13)'],
  [[{ ...GOOD, decimals: -1 }], 'decimals must be at least 0 (received -1)'],
  [[{ ...GOOD, aliases: ['OK', 'no good'] }], 'aliases.1 must be at most 32 capital letters'],
])('%j is explained', (file, message) => {
  expect(problemsOf(file)).toContain(message);
});

test('of a mistake in every symbol, the first twenty are named', () => {
  const problems = problemsOf(Array.from({ length: 30 }, () => ({ ...GOOD, decimals: 'two' })));
  expect(problems.split('\n')).toHaveLength(21);
  expect(problems).toEndWith('… and 10 more');
});
