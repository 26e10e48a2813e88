import type { CsvColumns } from '../csv/columns.ts';
import { kindOf } from '../formats/body.ts';
import { namesOf } from '../formats/xlsx/workbook.ts';
import { type ByteSource, firstBytes, gzipFile, inMemory, plainFile, zipEntries, zipEntry } from './bytes.ts';
import { findLayout, noLayout } from './layout.ts';
import type { PriceTable } from './price-table.ts';
import { openText } from './text-table.ts';
import { WorkbookFile } from './workbook-table.ts';

export interface TableOptions {
  columns: CsvColumns;
  /** The sheet of a workbook, or the file in a zip. */
  part: string | undefined;
}

/** Enough for the signature of any format, and to distinguish a web page from a table. */
const HEAD_BYTES = 4_096;
const OLD_EXCEL = [0xd0, 0xcf, 0x11, 0xe0];

/** Opens a file by its contents, whatever its name: delimited text, plain, gzipped or zipped, or an XLSX workbook. */
export async function openTable(path: string, options: TableOptions): Promise<PriceTable> {
  const container = containerOf(await firstBytes(path, HEAD_BYTES));
  if (container === 'zip') return openZip(path, options);
  if (options.part !== undefined)
    throw new Error(
      `the file has no sheet "${options.part}": it is neither a workbook nor a zip; omit --sheet`,
    );
  return openText(container === 'gzip' ? gzipFile(path) : plainFile(path), options.columns);
}

/**
 * Throws what `openTable` would, if the whole file is in memory and is not compressed. It reads only the lines that may be a
 * header.
 */
export async function requireTable(bytes: Uint8Array, columns: CsvColumns): Promise<void> {
  if (containerOf(bytes.subarray(0, HEAD_BYTES)) === 'none') await openText(inMemory(bytes), columns);
}

/** How the table is packed. Throws if there can be none. */
function containerOf(head: Uint8Array): 'gzip' | 'zip' | 'none' {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  if (OLD_EXCEL.every((byte, i) => head[i] === byte))
    throw new Error(
      'the file is an old Excel workbook (.xls), or is protected by a password; save it as .xlsx or CSV, without a password',
    );
  const kind = kindOf(head);
  if (kind === 'zip' || kind === 'xlsx') return 'zip';
  if (kind === 'html') throw new Error('the file is a web page, not a table');
  if (kind === 'empty' && head.length < HEAD_BYTES) throw new Error('the file is empty');
  return 'none';
}

async function openZip(path: string, { columns, part }: TableOptions): Promise<PriceTable> {
  const entries = await zipEntries(path);
  if (entries.has('xl/workbook.xml')) return openWorkbook(path, entries, { columns, part });
  const names = [...entries.keys()].filter((name) => !/^__MACOSX\/|(^|\/)\./.test(name));
  if (names.length === 0) throw new Error('the zip file is empty');
  const tables = names.filter((name) => /\.(csv|tsv|txt)$/i.test(name));
  const wanted = part === undefined ? oneOf(tables.length > 0 ? tables : names) : part;
  const entry = entries.get(wanted ?? '');
  if (!entry) {
    const list = names.slice(0, 20).join(', ').slice(0, 300) || 'none';
    throw new Error(
      part === undefined
        ? `the zip file has more than one file; name one with --sheet (it has ${list})`
        : `the zip file has no file "${part}" (it has ${list})`,
    );
  }
  return openText(zipEntry(path, entry), columns);
}

/** The named sheet, or the first visible one with a table of prices. */
async function openWorkbook(
  path: string,
  entries: Awaited<ReturnType<typeof zipEntries>>,
  { columns, part }: TableOptions,
): Promise<PriceTable> {
  const sourceOf = (name: string): ByteSource | undefined => {
    const entry = entries.get(name);
    return entry && zipEntry(path, entry);
  };
  const workbook = await WorkbookFile.open(sourceOf);
  const candidates = workbook.sheets.filter(({ name, isHidden }) =>
    part === undefined ? !isHidden : name.trim().toLowerCase() === part.trim().toLowerCase(),
  );
  if (candidates.length === 0) {
    throw new Error(`the workbook has no sheet "${part ?? ''}" (it has ${namesOf(workbook.sheets)})`);
  }
  let firstRow = '';
  for (const sheet of candidates) {
    const head = await workbook.head(sheet);
    const layout = findLayout([head.map(({ cells }) => cells)], columns);
    if (layout) return workbook.table(sheet, head, layout);
    firstRow ||= head[0]?.cells.join(',') ?? '';
  }
  throw noLayout(columns, firstRow);
}

function oneOf(names: readonly string[]): string | undefined {
  return names.length === 1 ? names[0] : undefined;
}
