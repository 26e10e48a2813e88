/**
 * `bun scripts/bundle.ts FOLDER`: builds the bundle of real history in src/feeds/sample/ and the levels that the demo follows
 * in src/feeds/simulator/. Run it by hand with new editions of the providers' files:
 *
 *     FOLDER/worldbank/*.xlsx            Pink Sheet, monthly prices; the newest edition is used
 *     FOLDER/ecb/eurofxref-hist.zip      reference rates since 1999
 *     FOLDER/eia/*.csv                   "Download Series History" of EIA's pages, as CSV
 *     FOLDER/datasets/{wti,brent,natural-gas}-daily.csv
 *                                        the same EIA series as `Date,Price`; they add days that the files above lack
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { decode } from '../src/feeds/formats/body.ts';
import { Zip } from '../src/feeds/formats/zip.ts';
import type { Parsed, Provider } from '../src/feeds/provider.ts';
import { ecb } from '../src/feeds/providers/ecb.ts';
import { eia } from '../src/feeds/providers/eia.ts';
import { worldBank } from '../src/feeds/providers/world-bank.ts';
import type { Edition } from '../src/feeds/sample/bundle.ts';
import { printDay } from '../src/market/day.ts';
import { anchorsOf } from './bundle/anchors.ts';
import { type DnavSeries, dnavFile, mergeDays } from './bundle/dnav.ts';

const SAMPLE = join(import.meta.dir, '../src/feeds/sample');
const ANCHORS = join(import.meta.dir, '../src/feeds/simulator/anchors.json');

/** EIA's daily series: the file from its own pages, and the one that continues it. */
const EIA_SERIES: readonly DnavSeries[] = [
  {
    page: 'pet/hist/RWTCD',
    title: 'Cushing OK WTI Spot Price FOB  Dollars per Barrel',
    files: ['eia/Cushing_OK_WTI_Spot_Price_FOB.csv', 'datasets/wti-daily.csv'],
  },
  {
    page: 'pet/hist/RBRTED',
    title: 'Europe Brent Spot Price FOB  Dollars per Barrel',
    files: ['datasets/brent-daily.csv'],
  },
  {
    page: 'pet/hist/RCLC1D',
    title: 'Cushing OK Crude Oil Future Contract 1  Dollars per Barrel',
    files: ['eia/Cushing_OK_Crude_Oil_Future_Contract_1.csv'],
  },
  {
    page: 'ng/hist/RNGWHHDD',
    title: 'Henry Hub Natural Gas Spot Price Dollars per Million Btu',
    files: ['eia/Henry_Hub_Natural_Gas_Spot_Price.csv', 'datasets/natural-gas-daily.csv'],
  },
];

/** The parts of a workbook that the adapter reads. */
const WORKBOOK_PARTS =
  /^(\[Content_Types\]\.xml|_rels\/\.rels|xl\/workbook\.xml|xl\/_rels\/.*|xl\/styles\.xml|xl\/sharedStrings\.xml)$/;

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('name the folder with the files of the providers');

const editions: Edition[] = [];
const bodies = { eia: eiaBody(folder), worldBank: worldBankBody(folder), ecb: ecbBody(folder) };
const parsed = {
  eia: add(eia, bodies.eia, 'eia.zip'),
  worldBank: add(worldBank, bodies.worldBank, 'world-bank.xlsx', editionOf(bodies.worldBank)),
  ecb: add(ecb, bodies.ecb, 'ecb.csv'),
};
await Bun.write(join(SAMPLE, 'editions.json'), `${JSON.stringify(editions, undefined, 2)}\n`);
const anchors = anchorsOf(parsed.worldBank.observations, parsed.ecb.observations);
await Bun.write(
  ANCHORS,
  `${JSON.stringify(anchors)}\n`.replaceAll('],"', '],\n"').replaceAll(':{"', ':{\n"'),
);
console.table(editions);

/** Compresses a body, and describes what the adapter reads in it. */
function add(provider: Provider, body: Uint8Array, file: string, edition?: string): Parsed {
  const content = provider.parse(body, { url: `bundle://${provider.key}/${file}` });
  const own = new Set(provider.series.map(({ id }) => id));
  const used = content.observations.filter(({ series }) => own.has(series));
  const unused = content.refused.slice(0, 5).map(({ where, reason }) => `${where}: ${reason}`);
  if (unused.length > 0) console.log(`${provider.key}: ${unused.join('; ')}`);
  const days = used.map(({ day }) => day).sort((a, b) => a - b);
  const packed = Bun.zstdCompressSync(body, { level: 22 });
  void Bun.write(join(SAMPLE, 'files', `${file}.zst`), packed);
  editions.push({
    provider: provider.key,
    edition: edition ?? printDay(days.at(-1)!),
    series: new Set(used.map(({ series }) => series)).size,
    observations: used.length,
    first: printDay(days[0]!),
    last: printDay(days.at(-1)!),
    bytes: packed.length,
  });
  return content;
}

function eiaBody(from: string): Uint8Array {
  const files = EIA_SERIES.map((series) => {
    const days = mergeDays(
      series.files.map((file) => [file, readFileSync(join(from, file), 'utf8')] as const),
    );
    return [`${series.page.split('/').at(-1)}.csv`, Buffer.from(dnavFile(series, days))] as const;
  });
  return zipSync(Object.fromEntries(files), { level: 0 });
}

/** The newest edition, reduced to what the adapter reads. Entries are stored: the bundle is compressed as a whole. */
function worldBankBody(from: string): Uint8Array {
  const files = readdirSync(join(from, 'worldbank')).filter((name) => name.endsWith('.xlsx'));
  const books = files.map((name) => new Uint8Array(readFileSync(join(from, 'worldbank', name))));
  const newest = books.sort((a, b) => Date.parse(editionOf(a)) - Date.parse(editionOf(b))).at(-1)!;
  const zip = new Zip(newest);
  const sheet = largestSheet(zip);
  const names = zip.names.filter((name) => WORKBOOK_PARTS.test(name) || name === sheet);
  return zipSync(Object.fromEntries(names.map((name) => [name, zip.read(name)!])), { level: 0 });
}

/** Monthly prices fill by far the largest sheet. */
function largestSheet(zip: Zip): string {
  const sheets = zip.names.filter((name) => name.startsWith('xl/worksheets/sheet'));
  return sheets.map((name) => ({ name, size: zip.read(name)!.length })).sort((a, b) => b.size - a.size)[0]!
    .name;
}

/** The date in a cell such as `Updated on June 02, 2026`, as 2026-06-02. */
function editionOf(book: Uint8Array): string {
  const texts = decode(new Zip(book).read('xl/sharedStrings.xml')!);
  const date = /Updated on (\w+ \d+, \d{4})/.exec(texts)?.[1];
  if (date === undefined) throw new Error('the workbook does not say when it was updated');
  return new Date(`${date} UTC`).toISOString().slice(0, 10);
}

function ecbBody(from: string): Uint8Array {
  const zip = new Zip(new Uint8Array(readFileSync(join(from, 'ecb/eurofxref-hist.zip'))));
  return zip.read(zip.names[0]!)!;
}
