import { decode } from './body.ts';
import { attributeOf, childrenOf, type Element, parseXml, textIn } from './xml.ts';
import { Zip } from './zip.ts';

/** One row of a sheet: its number as Excel shows it, and the text of the cells that have any, by column (0 is A). */
export interface SheetRow {
  number: number;
  cells: ReadonlyMap<number, string>;
}

/** The widest sheet that Excel can make has 16,384 columns. */
const COLUMNS_MAX = 16_384;

/** Reads the sheet whose name `wanted` accepts. Only cells that exist are kept: a far corner cell costs nothing. */
export function readSheet(body: Uint8Array, wanted: (name: string) => boolean): SheetRow[] {
  const zip = new Zip(body);
  const workbook = part(zip, 'xl/workbook.xml');
  if (!workbook) throw new Error('the zip file is not an XLSX workbook');
  const sheets = childrenOf(childrenOf(childrenOf(workbook, 'workbook')[0], 'sheets')[0], 'sheet');
  const sheet = sheets.find((one) => wanted(attributeOf(one, 'name') ?? ''));
  if (!sheet) {
    const names = sheets.map((one) => (attributeOf(one, 'name') ?? '').slice(0, 40)).slice(0, 20);
    throw new Error(`the workbook does not have the sheet; it has ${names.join(', ') || 'none'}`);
  }
  const content = part(zip, pathOf(zip, attributeOf(sheet, 'id') ?? ''));
  if (!content) throw new Error('the workbook does not hold the sheet that it names');
  return rowsOf(content, sharedStrings(zip));
}

function part(zip: Zip, path: string): Element | undefined {
  const bytes = zip.read(path);
  return bytes && parseXml(decode(bytes));
}

/** The file of a sheet, by its relation: the file's own number does not follow the order of sheets. */
function pathOf(zip: Zip, id: string): string {
  const relations = part(zip, 'xl/_rels/workbook.xml.rels');
  const all = childrenOf(childrenOf(relations, 'Relationships')[0], 'Relationship');
  const target = all.map((one) => attributeOf(one, 'Id') === id && attributeOf(one, 'Target')).find(Boolean);
  if (!target) return '';
  return target.startsWith('/') ? target.slice(1) : `xl/${target}`;
}

function sharedStrings(zip: Zip): string[] {
  const table = part(zip, 'xl/sharedStrings.xml');
  return childrenOf(childrenOf(table, 'sst')[0], 'si').map(richText);
}

/** Plain text, or the runs of a text with several formats. */
function richText(element: Element): string {
  const runs = childrenOf(element, 'r').flatMap((run) => childrenOf(run, 't'));
  return [...childrenOf(element, 't'), ...runs].map(textIn).join('');
}

function rowsOf(content: Element, strings: readonly string[]): SheetRow[] {
  const rows: SheetRow[] = [];
  const data = childrenOf(childrenOf(content, 'worksheet')[0], 'sheetData')[0];
  for (const row of childrenOf(data, 'row')) {
    const cells = new Map<number, string>();
    let column = -1;
    for (const cell of childrenOf(row, 'c')) {
      column = columnOf(attributeOf(cell, 'r')) ?? column + 1;
      const text = column < COLUMNS_MAX ? cellText(cell, strings) : '';
      if (text.trim() !== '') cells.set(column, text.trim());
    }
    const number = Number(attributeOf(row, 'r')) || (rows.at(-1)?.number ?? 0) + 1;
    rows.push({ number, cells });
  }
  return rows;
}

function cellText(cell: Element, strings: readonly string[]): string {
  const type = attributeOf(cell, 't') ?? 'n';
  if (type === 'inlineStr') return childrenOf(cell, 'is').map(richText).join('');
  const value = childrenOf(cell, 'v').map(textIn).join('');
  if (type === 's') return strings[Number(value)] ?? '';
  return type === 'n' ? published(value) : value;
}

/**
 * Excel keeps a number as a float64 and writes it with 17 digits: 1.14 stands in the file as 1.1400000000000001. It
 * shows and works with 15 significant digits, so 15 are what was published.
 */
function published(text: string): string {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? String(Number(value.toPrecision(15))) : text;
}

/** `BT803` is column 71. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^([A-Z]{1,3})\d/.exec(reference ?? '')?.[1];
  if (!letters) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}
