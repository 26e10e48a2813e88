import { describe, expect, test } from 'bun:test';
import { zipSync } from 'fflate';
import { bytes, workbook, zipOf } from '../../../test/support/feeds/feed-bodies.ts';
import { textOf } from './body.ts';
import { readPriceUnit } from './unit.ts';
import { readSheet } from './xlsx/workbook.ts';
import { parseXml } from './xml.ts';
import { Zip } from './zip.ts';

describe('zip', () => {
  /** A zip of files of zeros, whose directory gives another size for them. */
  function zipThatSays(sizes: readonly number[], realBytes: number): Uint8Array {
    const zip = zipSync(Object.fromEntries(sizes.map((_, i) => [`${i}`, new Uint8Array(realBytes)])));
    const view = new DataView(zip.buffer, zip.byteOffset);
    let at = view.getUint32(zip.length - 6, true);
    for (const size of sizes) {
      expect(view.getUint32(at, true)).toBe(0x02014b50);
      view.setUint32(at + 24, size, true);
      at += 46 + 1;
    }
    return zip;
  }

  test('a zip bomb is rejected by its directory, before inflating', () => {
    const mebibyte = 1024 * 1024;
    expect(() => new Zip(zipThatSays([65 * mebibyte], 10))).toThrow('the limit is 67108864');
    expect(() => new Zip(zipThatSays(Array(9).fill(8 * mebibyte), 10))).toThrow('the limit is 67108864');
  });

  test('a directory with sizes that are too small is detected while inflating', () => {
    const zip = new Zip(zipThatSays([10], 1_000_000));
    expect(() => zip.read('0')).toThrow('damaged');
  });

  test('one wrong byte is detected by the checksum', () => {
    const zip = zipSync({ 'a.csv': [bytes('Date,USD\n2026-01-02,1.5\n'), { level: 0 }] });
    expect(new Zip(zip).read('a.csv')).toEqual(bytes('Date,USD\n2026-01-02,1.5\n'));
    const at = zip.indexOf('1'.charCodeAt(0), 50);
    zip[at] = '9'.charCodeAt(0);
    expect(() => new Zip(zip).read('a.csv')).toThrow('damaged');
  });
});

describe('XML', () => {
  test('expanding entities are rejected with their document type', () => {
    const laughs = '<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;">]><a>&lol2;</a>';
    expect(() => parseXml(laughs)).toThrow('document type');
  });

  test('more than a thousand ampersands are accepted', () => {
    const text = parseXml(`<a>${'<b>x &amp; y</b>'.repeat(3000)}</a>`);
    expect(JSON.stringify(text)).toContain('x & y');
  });

  test('a truncated or endlessly nested document is rejected', () => {
    expect(() => parseXml('<a><b>')).toThrow('may be truncated');
    expect(() => parseXml('<a>'.repeat(100_000))).toThrow('nested more than 32 levels');
    expect(() => parseXml('<a b="1" b="2"/>')).toThrow('not well formed');
  });
});

describe('XLSX', () => {
  test('numbers keep the 15 digits that Excel displays', () => {
    const rows = readSheet(workbook('S', [[1.14, 0.07, 646.42, 'text & more']]), (name) => name === 'S');
    expect([...rows[0]!.cells.values()]).toEqual(['1.14', '0.07', '646.42', 'text & more']);
  });

  test('a cell in the last row and column takes no memory for the others', () => {
    const far = zipOf({
      'xl/workbook.xml': '<workbook><sheets><sheet name="S" r:id="rId1"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels':
        '<Relationships><Relationship Id="rId1" Target="/xl/worksheets/a.xml"/></Relationships>',
      'xl/worksheets/a.xml':
        '<worksheet><dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c><v>1</v></c><c t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r></is></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row></sheetData></worksheet>',
    });
    const rows = readSheet(far, () => true);
    expect(rows.map(({ number, cells }) => [number, [...cells]])).toEqual([
      [
        1,
        [
          [0, '1'],
          [1, 'ab'],
        ],
      ],
      [1048576, [[16383, '2']]],
    ]);
  });
});

test.each([
  ['($/bbl)', 'USD', 'Bbl'],
  ['$/MMBTU', 'USD', 'MMBtu'],
  ['Dollars per Barrel', 'USD', 'Bbl'],
  ['U.S. Dollars per Metric Ton', 'USD', 'MT'],
  ['U.S. Cents per Pound', 'USX', 'Lb'],
  ['($/troy oz)', 'USD', 'T.oz'],
  ['($/cubic meter)', 'USD', 'm3'],
  ['$/GAL', 'USD', 'Gal'],
  ['(cents/sheet)', 'USX', 'Sheet'],
])('the label %s is %s per %s', (label, currency, unit) => {
  expect(readPriceUnit(label)).toEqual({ currency, unit });
});

test.each(['($/dmtu)', '(2010=100)', '', '$', 'Index', '$/bbl/day'])(
  'the label "%s" is not known',
  (label) => {
    expect(readPriceUnit(label)).toBeUndefined();
  },
);

test('a body that is not text is not read as text', () => {
  expect(() => textOf(new Uint8Array([1, 0, 2]), 'CSV')).toThrow('not text');
});
