import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bytes, workbook, zipOf } from '../../../test/support/feeds/feed-bodies.ts';
import { newFolder } from '../../../test/support/ledger.ts';
import { Zip } from '../formats/zip.ts';
import { openTable, type TableOptions } from './table.ts';

const CSV = 'Date,Price\n2026-01-02,70.5\n2026-01-05,-36.98\n';
const ROWS = [
  ['2026-01-02', '70.5'],
  ['2026-01-05', '-36.98'],
];

/** The same in the format Zip64, as Python's zipfile writes it with ZIP64_LIMIT = 0. */
const ZIP64 = Buffer.from(
  'UEsDBC0AAAAAAAAAIQCDFtyM//////////8IABQAbm90ZXMubWQBABAAAQAAAAAAAAABAAAAAAAAAHhQSwMELQAAAAgAAAAh' +
    'APOpXmD//////////wUAFABhLmNzdgEAEAAtAAAAAAAAACYAAAAAAAAAc0ksSdUJKMpMTuUyMjAy0zUw1DUw0jE30DNF8E11' +
    'dI3N9CwtuABQSwECLQMtAAAAAAAAACEAgxbcjP//////////CAAUAAAAAAAAAAAAgAEAAAAAbm90ZXMubWQBABAAAQAAAAAA' +
    'AAABAAAAAAAAAFBLAQItAy0AAAAIAAAAIQDzqV5g//////////8FABwAAAAAAAAAAACAAf////9hLmNzdgEAGAAtAAAAAAAA' +
    'ACYAAAAAAAAAOwAAAAAAAABQSwYGLAAAAAAAAAAtAC0AAAAAAAAAAAACAAAAAAAAAAIAAAAAAAAAmQAAAAAAAACYAAAAAAAA' +
    'AFBLBgcAAAAAMQEAAAAAAAABAAAAUEsFBgAAAAACAAIAmQAAAJgAAAAAAA==',
  'base64',
);

async function read(content: Uint8Array | string, options: Partial<TableOptions> = {}) {
  const path = join(newFolder(), 'prices.dat'); // a name that tells nothing
  await Bun.write(path, content);
  const table = await openTable(path, { columns: {}, part: undefined, ...options });
  const rows: (readonly string[])[] = [];
  for await (const some of table.rows()) rows.push(...some.map(({ cells }) => cells));
  return rows;
}

describe('the format of a file is detected from its contents', () => {
  test.each([
    ['plain', CSV],
    ['UTF-16, little end first', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(CSV, 'utf16le')])],
    [
      'UTF-16, big end first',
      Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(CSV, 'utf16le').swap16()]),
    ],
    ['gzip', gzipSync(CSV)],
    ['gzip of two members', Buffer.concat([gzipSync(CSV.slice(0, 20)), gzipSync(CSV.slice(20))])],
    ['a zip', zipOf({ '__MACOSX/._a.csv': 'x', 'a/prices.csv': CSV, 'readme.md': 'x' })],
    [
      'a workbook',
      workbook('Prices', [
        ['Date', 'Price'],
        ['2026-01-02', 70.5],
        ['2026-01-05', -36.98],
      ]),
    ],
  ])('%s', async (_name, content) => {
    expect(await read(content)).toEqual(ROWS);
  });

  test.each([
    ['', 'the file is empty'],
    ['<!DOCTYPE html><html></html>', 'web page'],
    [Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0, 0]), 'save it as .xlsx or CSV'],
    [Buffer.from([1, 0, 2, 0]), 'not text in UTF-8'],
    ['[{"date":"2026-01-02","close":1}]', 'the file is JSON, not a table'],
    [zipOf({}), 'the zip file is empty'],
    [gzipSync(CSV.repeat(100)).subarray(0, 60), 'incomplete or damaged'],
    [zipOf({ 'a.csv': CSV }).subarray(0, 60), 'may be truncated'],
  ])('%j is rejected with a reason (%#)', async (content, reason) => {
    await expect(read(content)).rejects.toThrow(reason);
  });

  test('text that is not UTF-8 is read as Windows-1252, also if that shows only in a later chunk', async () => {
    const columns = { date: 'Datum', value: 'Eröffnung' };
    const german = 'Datum;Eröffnung\n02.01.2026;1\u00a0234,50 €\n'.replace('€', '\x80');
    expect(await read(Buffer.from(german, 'latin1'), { columns })).toEqual([
      ['02.01.2026', '1\u00a0234,50 €'],
    ]);
    const many = `Date;Price;Note\n${`2026-01-02;70,5;${'x'.repeat(1000)}\n`.repeat(300)}`;
    const rows = await read(Buffer.from(`${many}2026-01-05;1\u00a0234,5;x\n`, 'latin1'));
    expect(rows.at(-1)).toEqual(['2026-01-05', '1\u00a0234,5', 'x']);
  });

  test.each([0, 1, 2])('a character of UTF-8 may be split between chunks (%i)', async (shift) => {
    const text = `Date;Price;Note${'x'.repeat(shift)}\n${`2026-01-02;70,5;${'€'.repeat(1000)}\n`.repeat(100)}`;
    const rows = await read(text);
    expect(new Set(rows.map(([, , note]) => note))).toEqual(new Set(['€'.repeat(1000)]));
  });

  test('one wrong byte in a zip is detected by the checksum', async () => {
    const { zipSync } = await import('fflate');
    const zip = zipSync({ 'a.csv': [bytes(CSV), { level: 0 }] });
    zip[zip.indexOf('7'.charCodeAt(0), 40)] = '8'.charCodeAt(0);
    await expect(read(zip)).rejects.toThrow('damaged');
  });

  test('one with a password is refused', async () => {
    const zip = zipOf({ 'a.csv': CSV });
    const directory = Buffer.from(zip).indexOf('PK\x01\x02');
    zip[directory + 8]! |= 1;
    await expect(read(zip)).rejects.toThrow('the zip file is protected by a password');
  });

  test('a zip in the format Zip64 is read', async () => {
    const commented = Buffer.concat([ZIP64, Buffer.alloc(0xffff, 'PK')]);
    commented.writeUInt16LE(0xffff, ZIP64.length - 2);
    for (const zip of [ZIP64, commented]) expect(await read(zip)).toEqual(ROWS);
    const inMemory = new Zip(ZIP64);
    expect(inMemory.names).toEqual(['notes.md', 'a.csv']);
    expect(inMemory.read('a.csv')).toEqual(Buffer.from(CSV));
  });

  test('whatever byte of a zip in that format is wrong, it is read as it was or rejected', async () => {
    for (let at = 0; at < ZIP64.length; at++) {
      const zip = Buffer.from(ZIP64);
      zip[at]! ^= 0xff;
      const rows = await read(zip).catch((error) => {
        expect(error.message).toMatch(/zip file|web page|header|no columns|text in UTF-8/);
        return ROWS;
      });
      expect(rows).toEqual(ROWS);
    }
  });

  test.each([
    ['Day', 'no line has a column "Day"; check --date-column'],
    ['7', 'no line has a date in column 7; check --date-column'],
  ])('a date column %s that the file does not have is named', async (date, message) => {
    await expect(read(CSV, { columns: { date } })).rejects.toThrow(message);
  });

  test('a value column that the file does not have is named, also without a header', async () => {
    const columns = { date: '1', value: '7' };
    const message =
      'no line has a date in column 1 and a price in column 7; check --date-column and --value-column';
    for (const text of [CSV, CSV.slice(CSV.indexOf('\n') + 1)])
      await expect(read(text, { columns })).rejects.toThrow(message);
  });

  test.each(['Dato;Åpning;Høy;Lav;Slutt\n02.01.2026;1;3;1;2\n', 'date,a,b\n2026-01-02,1,2\n'])(
    'prices in columns that no option names are refused with the options (%#)',
    async (text) => {
      await expect(read(text)).rejects.toThrow(
        /--value-column.*--ohlc-columns|--ohlc-columns.*--value-column/,
      );
    },
  );

  test('an empty file in a zip is called empty', async () => {
    const { zipSync } = await import('fflate');
    const stored = zipSync({ 'a.csv': [bytes(''), { level: 0 }] });
    await expect(read(stored)).rejects.toThrow('the file is empty');
  });

  test('one of several files in a zip is chosen by name', async () => {
    const zip = zipOf({ 'a.csv': 'x', 'b.csv': CSV });
    await expect(read(zip)).rejects.toThrow('name one with --sheet (it has a.csv, b.csv)');
    expect(await read(zip, { part: 'b.csv' })).toEqual(ROWS);
    await expect(read(zip, { part: 'c.csv' })).rejects.toThrow('no file "c.csv"');
  });
});

test('a file without sheets has none to choose', async () => {
  for (const file of [CSV, gzipSync(CSV)])
    await expect(read(file, { part: 'Prices' })).rejects.toThrow(
      'the file has no sheet "Prices": it is neither a workbook nor a zip; omit --sheet',
    );
});

describe('workbooks', () => {
  /** 44928 is 2023-01-02 in Excel's count from 1900, and 43466 in that from 1904. */
  const dated = (day: number, workbookPr = '') =>
    zipOf({
      'xl/workbook.xml': `<workbook xmlns:r="r">${workbookPr}<sheets><sheet name="Notes" r:id="n"/><sheet name="Data" r:id="d"/></sheets></workbook>`,
      'xl/_rels/workbook.xml.rels':
        '<Relationships><Relationship Id="n" Target="worksheets/n.xml"/><Relationship Id="d" Target="worksheets/d.xml"/></Relationships>',
      'xl/styles.xml':
        '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="d\\-mmm\\-yy"/><numFmt numFmtId="165" formatCode="0.00&quot; per day/month&quot;"/><numFmt numFmtId="166" formatCode="#,##0.00\\ _D_M;*y\\-0"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/></cellXfs></styleSheet>',
      'xl/worksheets/n.xml':
        '<worksheet><sheetData><row><c t="str"><v>Read me</v></c></row></sheetData></worksheet>',
      'xl/worksheets/d.xml': `<worksheet><sheetData><row r="1"><c t="str"><v>Date</v></c><c t="str"><v>Close</v></c></row><row r="2"><c r="A2" s="1"><v>${day}</v></c><c r="B2" s="3"><v>70.5</v></c></row><row r="3"><c r="A3" s="2"><v>${day + 1.75}</v></c><c r="B3" s="4"><v>71</v></c></row></sheetData></worksheet>`,
    });

  test('cells with a date format are dates, in both of date systems of Excel', async () => {
    const expected = [
      ['2023-01-02', '70.5'],
      ['2023-01-03', '71'],
    ];
    expect(await read(dated(44_928))).toEqual(expected);
    expect(await read(dated(43_466, '<workbookPr date1904="1"/>'))).toEqual(expected);
    expect((await read(dated(1)))[0]![0]).toBe('1900-01-01');
  });

  test('the first sheet with a table is read, or the named one', async () => {
    expect(await read(dated(44_928), { part: 'data' })).toHaveLength(2);
    await expect(read(dated(44_928), { part: 'Prices' })).rejects.toThrow(
      'no sheet "Prices" (it has Notes, Data)',
    );
    await expect(read(dated(44_928), { part: 'Notes' })).rejects.toThrow('--date-column');
  });
});
