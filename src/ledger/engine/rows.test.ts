import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  asFlag,
  asJson,
  asNumber,
  asOneOf,
  asText,
  nullable,
  onlyRow,
  optional,
  type Row,
  rowReader,
} from './rows.ts';

test('a number is a number, whichever engine returned it', () => {
  expect([asNumber(7), asNumber('7'), asNumber('-37.63'), asNumber(0)]).toEqual([7, 7, -37.63, 0]);
  expect([optional(asNumber)('12'), optional(asNumber)(null)]).toEqual([12, undefined]);
  expect([nullable(asText)('a'), nullable(asText)(null)]).toEqual(['a', null]);
});

test('a column that is missing, NULL or of another kind is an error, never 0, NaN or "null"', () => {
  for (const cell of [null, undefined, '', 'seven', Number.NaN])
    expect(() => asNumber(cell)).toThrow('a number');
  for (const cell of [null, undefined, 7]) expect(() => asText(cell)).toThrow('text');
  for (const cell of [null, undefined, 2, 'yes']) expect(() => asFlag(cell)).toThrow();
  for (const read of [optional(asNumber), nullable(asNumber)]) {
    expect(() => read(undefined)).toThrow('no such column');
  }
  expect(() => asOneOf('held', 'dropped')('gone')).toThrow('held or dropped');
  expect(() => asJson()('{')).toThrow();
  expect(() => onlyRow([])).toThrow('returned none');
});

interface Sample {
  id: string;
  delaySeconds: number;
  headerOnly: boolean;
}

const SAMPLE = rowReader<Sample>({ id: asText, delaySeconds: asNumber, headerOnly: asFlag });

test('a row reader names its columns once, for the statement and for the row', () => {
  expect(SAMPLE.columns).toBe('id, delay_seconds, header_only');
  expect(SAMPLE.columnsOf('s')).toBe('s.id, s.delay_seconds, s.header_only');
  const row: Row = { id: 'a', delay_seconds: '600', header_only: 1, other: 'ignored' };
  expect(SAMPLE.read(row)).toEqual({ id: 'a', delaySeconds: 600, headerOnly: true });
});

test('a row without a declared column, or with another kind in it, is an error that names the column', () => {
  expect(() => SAMPLE.read({ id: 'a', delay: 600, header_only: 1 })).toThrow('column delay_seconds');
  expect(() => SAMPLE.read({ id: 5, delay_seconds: 600, header_only: 1 })).toThrow('column id');
});

const LEDGER = join(import.meta.dir, '..');
const SOURCES = (readdirSync(LEDGER, { recursive: true }) as string[])
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => ({ file, text: readFileSync(join(LEDGER, file), 'utf8') }));

test('no other file of the ledger decodes a column by itself', () => {
  for (const { file, text } of SOURCES) {
    if (file !== 'engine/rows.ts') expect(text, file).not.toMatch(/\b(Number|String)\(row\b/);
  }
});

test('every statement of the ledger names its columns', () => {
  for (const { file, text } of SOURCES) {
    expect(text, file).not.toMatch(/\b(SELECT|RETURNING) (\w+\.)?\*/);
  }
});
