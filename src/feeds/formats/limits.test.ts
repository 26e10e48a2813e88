import { describe, expect, test } from 'bun:test';
import { zipSync } from 'fflate';
import { z } from 'zod';
import { bytes, zipOf } from '../../../test/support/feeds/feed-bodies.ts';
import { URLS } from '../../../test/support/feeds/fuzzed-feeds.ts';
import { PROVIDERS } from '../providers/index.ts';
import { Collector } from './collector.ts';
import { list, numeric, readJson } from './json.ts';
import { readTable } from './table.ts';
import { readSheet } from './xlsx/workbook.ts';
import { parseXml, XmlReader } from './xml.ts';
import { Zip } from './zip.ts';

/** Bodies that are small on the wire and large in memory or in work. Each is rejected by a count, not by a clock. */

const MEBIBYTE = 1024 * 1024;
const bodyOf = (part: string, sizeMax: number) => part.repeat(Math.floor(sizeMax / part.length));

describe('JSON', () => {
  test('more than a million values are rejected before parsing', () => {
    const body = bytes(`[${bodyOf('[],', 20 * MEBIBYTE)}[]]`);
    expect(() => readJson(body, z.unknown())).toThrow('more than 1000000 values');
    expect(() => readJson(bytes(`{${bodyOf('"a":0,', 20 * MEBIBYTE)}"b":0}`), z.unknown())).toThrow('values');
  });

  test('deep nesting is rejected', () => {
    expect(() => readJson(bytes('['.repeat(1_000_000)), z.unknown())).toThrow('more than 64 levels deep');
    expect(() => readJson(bytes('{"a":'.repeat(65)), z.unknown())).toThrow('more than 64 levels deep');
  });

  test('brackets, commas and escaped quotes inside strings do not count', () => {
    const text = `${'[{,'.repeat(1_000_000)}\\"${'['.repeat(100)}\\\\`;
    expect(readJson(bytes(`["${text}",1]`), z.array(z.unknown()))).toHaveLength(2);
  });

  test('a list is checked up to its first wrong item, whatever its length', () => {
    let checked = 0;
    const item = z.unknown().refine(() => ++checked < 4);
    expect(() => readJson(bytes(`[${'[],'.repeat(9_999)}[]]`), list(item))).toThrow('at 3,');
    expect(checked).toBe(4);
    expect(readJson(bytes('["1",2,null]'), list(numeric))).toEqual(['1', 2, null]);
  });
});

describe('XML', () => {
  test('too many elements, levels or attributes are rejected', () => {
    expect(() => parseXml(`<a>${'<b/>'.repeat(500_001)}</a>`)).toThrow('more than 500000 elements');
    expect(() => parseXml('<a>'.repeat(33))).toThrow('more than 32 levels deep');
    const attributes = Array.from({ length: 65 }, (_, i) => `a${i}=""`).join(' ');
    expect(() => parseXml(`<a ${attributes}/>`)).toThrow('more than 64 attributes');
  });

  test.each(['<a>', '<a><b c="', '<a><!--', '<a><![CDATA[', '<a><?b '])(
    'memory stays bounded, whatever does not end after %s',
    (start) => {
      const reader = new XmlReader({ text() {} });
      const endless = () => {
        reader.write(start);
        for (let i = 0; i < 100; i++) reader.write(' '.repeat(100_000));
      };
      expect(endless).toThrow('more than 1000000 characters');
    },
  );

  test('a document is as long as it likes', () => {
    let elements = 0;
    const reader = new XmlReader({ open: () => elements++ });
    reader.write('<a>');
    for (let i = 0; i < 100; i++) reader.write(`${' '.repeat(99_000)}<b/><!-- c -->${' '.repeat(1_000)}`);
    reader.write('</a>');
    reader.end();
    expect(elements).toBe(101);
  });

  test('a document type is rejected wherever the entity would be used', () => {
    for (const kind of [
      '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
      '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
    ])
      expect(() => parseXml(kind)).toThrow('document type');
    expect(() => parseXml('<a>&x;</a>')).toThrow('not well formed');
  });
});

describe('XLSX', () => {
  // Stored, not compressed: deflating 20 MB takes seconds, and repeated text would exceed the limit of a zip.
  const workbookOf = (sheet: string, strings = '<sst/>') =>
    zipOf(
      {
        'xl/workbook.xml': '<workbook xmlns:r="r"><sheets><sheet name="S" r:id="rId1"/></sheets></workbook>',
        'xl/_rels/workbook.xml.rels':
          '<Relationships><Relationship Id="rId1" Target="worksheets/a.xml"/></Relationships>',
        'xl/worksheets/a.xml': `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
        'xl/sharedStrings.xml': strings,
      },
      0,
    );
  const read = (body: Uint8Array) => readSheet(body, () => true);
  const cells = (count: number) => '<c><v>1</v></c>'.repeat(count);

  test('a row with more cells than Excel has columns is rejected', () => {
    expect(read(workbookOf(`<row>${cells(16_384)}</row>`))[0]!.cells.size).toBe(16_384);
    expect(() => read(workbookOf(`<row r="3">${cells(100_000)}</row>`))).toThrow(
      'row 3 of the sheet has more than 16384 cells',
    );
  });

  test('the cells of all rows together are limited', () => {
    const rows = `<row>${cells(16_384)}</row>`.repeat(62);
    expect(() => read(workbookOf(rows))).toThrow('more than 1000000 cells');
  });

  test('a text longer than a cell can hold is rejected, shared or not', () => {
    const long = Array.from({ length: 5_000 }, (_, i) => i * 7919).join('');
    expect(() => read(workbookOf(`<row><c><v>${long}</v></c></row>`))).toThrow('32767 characters');
    const inline = `<row><c t="inlineStr"><is><t>${long}</t></is></c></row>`;
    expect(() => read(workbookOf(inline))).toThrow('32767 characters');
    expect(() => read(workbookOf('<row/>', `<sst><si><t>${long}</t></si></sst>`))).toThrow(
      '32767 characters',
    );
  });

  test('a million shared strings are the limit', () => {
    const strings = '<si><t>a</t></si>'.repeat(1_048_577);
    expect(() => read(workbookOf('<row/>', `<sst>${strings}</sst>`))).toThrow('1048576 texts');
  });
});

describe('tables', () => {
  const isHeader = (names: readonly string[]) => names[0] === 'Date';

  test('a row with more than 4,096 columns is rejected, quoted or not', () => {
    const wide = `Date${',x'.repeat(4_096)}\n`;
    expect(() => readTable(wide, isHeader)).toThrow('line 1 has more than 4096 columns');
    for (const first of ['1', '"1"']) {
      const text = `Date,x\n\n${first}${',2'.repeat(4_096)}\n`;
      expect(() => [...readTable(text, isHeader)!.rows]).toThrow('line 3 has more than 4096 columns');
    }
  });
});

test('a body of more than half a million observations is rejected', () => {
  const collector = new Collector();
  const take = (from: number, to: number) => {
    for (let i = from; i < to; i++) collector.addValue(`s${i % 10}`, Math.floor(i / 10), 1, '');
  };
  take(0, 500_000);
  collector.addValue('s1', 1, 1, 'again'); // a repeated day does not count
  expect(() => take(500_000, 500_001)).toThrow('more than 500000 observations');
});

test('a zip that inflates to more than 200 times its size is rejected before inflating', () => {
  expect(() => new Zip(zipSync({ a: new Uint8Array(2 * MEBIBYTE) }))).toThrow('more than 200 times its size');
  expect(new Zip(zipSync({ a: new Uint8Array(100_000) })).names).toEqual(['a']);
});

test.each(PROVIDERS.map((provider) => [provider.key, provider] as const))(
  '%s rejects every hostile body with a reason',
  (key, provider) => {
    const request = { url: URLS[key] ?? 'https://provider.example/', series: provider.series[0]!.id };
    const hostile = [
      bytes(`[${bodyOf('[],', 4 * MEBIBYTE)}[]]`),
      bytes(`{"response":{"data":[${bodyOf('{},', 4 * MEBIBYTE)}{}]}}`),
      bytes('['.repeat(MEBIBYTE)),
      bytes(`<a>${bodyOf('<a>', MEBIBYTE)}`),
      bytes(`Date,USD${bodyOf(',x', MEBIBYTE)}`),
      bytes(`Date,Open,High,Low,Close\n2026-01-02,${'9'.repeat(300_000)}\n`),
      bytes(`"${'x'.repeat(MEBIBYTE)}`),
      zipOf({ 'a.csv': 'x'.repeat(2 * MEBIBYTE) }),
    ];
    for (const body of hostile) expect(() => provider.parse(body, request)).toThrow(/./);
  },
);
