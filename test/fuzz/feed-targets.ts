import { unzipSync } from 'fflate';
import { readTable } from '../../src/feeds/formats/table.ts';
import { readSheet } from '../../src/feeds/formats/xlsx/workbook.ts';
import { parseXml } from '../../src/feeds/formats/xml.ts';
import { Zip } from '../../src/feeds/formats/zip.ts';
import { PROVIDERS } from '../../src/feeds/providers/index.ts';
import {
  OWNER_BYTES,
  type Owner,
  pack,
  readOwner,
  saltOf,
  unpack,
  writeOwner,
} from '../../src/gate/spool/spool-record.ts';
import { pinkSheet, rezip, zipOf } from '../support/feeds/feed-bodies.ts';
import { BODIES, expectGoodRows, URLS } from '../support/feeds/fuzzed-feeds.ts';
import { readPriceText } from '../support/feeds/price-text.ts';
import { law, orRefused, type Target, textTarget } from './target.ts';

/** A spool record with one count. */
const RECORD_BYTES = OWNER_BYTES + 8;

const FORMAT_WORDS = [
  '"',
  ',',
  ';',
  '\t',
  '\r\n',
  '2026-01-02',
  '13.04.2026',
  '1,5',
  '1e309',
  'NaN',
  '…',
  '\uFEFF',
];

const SHEETS = [pinkSheet(), pinkSheet({ codes: true })];

/** Parsers of feed bodies and imported files, and of the spool. */
export const FEED_TARGETS: readonly Target[] = [
  textTarget(
    'csv',
    [
      'Date,Open,High,Low,Close\n2026-01-02,1,2,0.5,1.5\n',
      'sym;date;close\nXAU;13.04.2026;1.234,5\n',
      'timestamp\tclose\n1767398400\t6\n',
    ],
    FORMAT_WORDS,
    (text) => {
      const parsed = orRefused(() => readPriceText(text));
      if (parsed) expectGoodRows(parsed.bars, (i) => parsed.bars[i]!.symbol);
    },
  ),
  textTarget('table', ['a,b\n"1,2",3\n', 'x\ny;z\n1;2'], FORMAT_WORDS, (text) => {
    const table = orRefused(() => readTable(text, (names) => names.length > 1));
    if (table) orRefused(() => [...table.rows].length);
  }),
  textTarget(
    'xml',
    ['<a b="c"><d>1</d>&amp;</a>', '<?xml version="1.0"?><x:y xmlns:x="z"/>'],
    ['<', '>', '&', ';', '"', '<![CDATA[', ']]>', '<!--', '&#x41;', '</'],
    (text) => {
      orRefused(() => parseXml(text));
    },
  ),
  {
    name: 'zip',
    seeds: [zipOf({ 'a.csv': 'x', 'b.csv': 'y' })],
    words: ['PK\x01\x02', 'PK\x03\x04', 'PK\x05\x06'],
    run(input) {
      const zip = orRefused(() => new Zip(input));
      for (const name of zip?.names ?? []) orRefused(() => zip!.read(name));
    },
  },
  {
    name: 'xlsx',
    seeds: SHEETS.flatMap((sheet) =>
      Object.values(unzipSync(sheet)).map((file, which) => asInput(which, file)),
    ),
    words: [
      '<c r="A1" t="s"><v>0</v></c>',
      '<row r="1">',
      '</row>',
      '<v>',
      '1E+309',
      '<is><t>',
      't="inlineStr"',
    ],
    // The first byte selects the file of the workbook that the rest replaces. Mutating the zip itself would only test its checksums.
    run(input) {
      for (const sheet of SHEETS) {
        const body = rezip(sheet, input[0] ?? 0, () => input.subarray(1));
        orRefused(() => readSheet(body, () => true));
        const worldBank = PROVIDERS.find(({ key }) => key === 'world-bank')!;
        const parsed = orRefused(() => worldBank.parse(body, { url: 'https://example.com/' }));
        if (parsed) expectGoodRows(parsed.observations, (i) => parsed.observations[i]!.series);
      }
    },
  },
  {
    name: 'spool',
    seeds: [spoolRecord()],
    words: ['[', '{', '"accountId"', '\0'],
    run(input) {
      const record = new Uint8Array(RECORD_BYTES);
      record.set(input.subarray(0, RECORD_BYTES));
      const owner = readOwner(record.subarray(0, OWNER_BYTES));
      law(
        owner === 'empty' || owner === 'torn' || typeof owner.leaseId === 'string',
        'an owner without a lease',
      );
      const packed = new DataView(record.buffer).getFloat64(OWNER_BYTES, true);
      const salt = typeof owner === 'string' ? 0 : saltOf(owner);
      const count = unpack(packed, salt);
      law(count === undefined || pack(count, salt) === packed, 'a count that was never written');
    },
  },
  ...PROVIDERS.map((provider) => ({
    name: provider.key,
    seeds: BODIES[provider.key]!,
    words: FORMAT_WORDS,
    run(input: Uint8Array) {
      const request = { url: URLS[provider.key] ?? 'https://example.com/' };
      const parsed = orRefused(() => provider.parse(input, request));
      if (parsed) expectGoodRows(parsed.observations, (i) => parsed.observations[i]!.series);
    },
  })),
];

function spoolRecord(): Uint8Array {
  const record = new Uint8Array(RECORD_BYTES);
  const owner: Owner = { accountId: 'acc_1', period: 202611, leaseId: 'lease', replica: 'r' };
  writeOwner(record.subarray(0, OWNER_BYTES), owner);
  new DataView(record.buffer).setFloat64(OWNER_BYTES, pack(42, saltOf(owner)), true);
  return record;
}

function asInput(which: number, file: Uint8Array): Uint8Array {
  return new Uint8Array([which, ...file]);
}
