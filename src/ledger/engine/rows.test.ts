import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asNumber, asNumberIfAny, asText, asTextOrNull, onlyRow } from './rows.ts';

test('a number is a number, whichever engine it came from', () => {
  expect([asNumber(7), asNumber('7'), asNumber('-37.63'), asNumber(0)]).toEqual([7, 7, -37.63, 0]);
  expect([asNumberIfAny('12'), asNumberIfAny(null)]).toEqual([12, undefined]);
});

test('a column that is missing, NULL or not a number is an error, never 0 or NaN', () => {
  for (const cell of [null, undefined, 'seven', Number.NaN]) expect(() => asNumber(cell)).toThrow('a number');
  for (const cell of [null, undefined]) expect(() => asText(cell)).toThrow('a text');
  expect(asTextOrNull(null)).toBeNull();
  expect(() => onlyRow([])).toThrow('returned none');
});

test('no other file of the ledger decodes a column by itself', () => {
  const ledger = join(import.meta.dir, '..');
  for (const file of new Bun.Glob('**/*.ts').scanSync(ledger)) {
    if (file === 'engine/rows.ts' || file.endsWith('.test.ts')) continue;
    expect(readFileSync(join(ledger, file), 'utf8'), file).not.toMatch(/\b(Number|String)\(row\b/);
  }
});
