import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { columnsOf, writeTable } from './table.ts';

const COLUMNS = columnsOf('name value:number note');

/** Reads RFC 4180 as strictly as it is written: records of fields. */
function readCsv(text: string): string[][] {
  const records: string[][] = [];
  const field = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/y;
  const record: string[] = [];
  while (field.lastIndex < text.length) {
    const match = field.exec(text);
    if (!match) throw new Error('not RFC 4180');
    const [, raw = '', end] = match;
    record.push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw);
    if (end === '\r\n') records.push(record.splice(0));
  }
  return records;
}

const text = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.constantFrom('=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', 'a,b', '"', 'a\r\nb', "'", ' ', 'é', '¢'),
);
const number = fc.constantFrom('-37.63', '0', '1.5', '2358.2');

describe('CSV', () => {
  test('has a header, CRLF, quotes where they are needed, and nothing where there is nothing', () => {
    const rows = [
      ['plain', '1', undefined],
      ['Wheat, US "Hard" Red', '-2.5', 'two\nlines'],
    ];
    expect(writeTable({ columns: COLUMNS, rows }, 'csv')).toBe(
      'name,value,note\r\nplain,1,\r\n"Wheat, US ""Hard"" Red",-2.5,"two\nlines"\r\n',
    );
  });

  test('text that a spreadsheet would run is kept text; a negative number stays a number', () => {
    const rows = [
      ['=HYPERLINK("http://x")', '-37.63', '-1'],
      ['@x', '1', '+1'],
    ];
    expect(writeTable({ columns: COLUMNS, rows }, 'csv')).toBe(
      'name,value,note\r\n"\'=HYPERLINK(""http://x"")",-37.63,\'-1\r\n\'@x,1,\'+1\r\n',
    );
  });

  test('any text is preserved, with an apostrophe in front if it looks like a formula', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, number, text)), (rows) => {
        const [header, ...records] = readCsv(writeTable({ columns: COLUMNS, rows }, 'csv'));
        expect(header).toEqual(['name', 'value', 'note']);
        const safe = (one: string) => (/^[=+\-@\t\r]/.test(one) ? `'${one}` : one);
        expect(records).toEqual(rows.map(([name, value, note]) => [safe(name), value, safe(note)]));
      }),
    );
  });
});

describe('NDJSON', () => {
  test('is one object a line, with text as it is, numbers as numbers, and null for nothing', () => {
    const rows = [
      ['=1', '-37.63', undefined],
      ['"', 'true', 'b\nc'],
    ];
    expect(writeTable({ columns: COLUMNS, rows }, 'ndjson')).toBe(
      '{"name":"=1","value":-37.63,"note":null}\n{"name":"\\"","value":true,"note":"b\\nc"}\n',
    );
    expect(writeTable({ columns: COLUMNS, rows: [] }, 'ndjson')).toBe('');
  });
});
