import { decode } from '../body.ts';
import { attributeOf, childrenOf, type Element, parseXml } from '../xml.ts';
import { Zip } from '../zip.ts';
import { SheetReader, type SheetRow } from './sheet.ts';
import { SharedStrings } from './strings.ts';

export const WORKBOOK = 'xl/workbook.xml';
export const RELATIONS = 'xl/_rels/workbook.xml.rels';
export const STRINGS = 'xl/sharedStrings.xml';

/** The Pink Sheet has 60,000 cells. */
const CELLS_MAX = 1_000_000;

export interface SheetPart {
  name: string;
  isHidden: boolean;
  /** The path of its file in the zip; empty if unknown. */
  path: string;
}

/** Reads the sheet whose name `wanted` accepts, from a provider's body. */
export function readSheet(body: Uint8Array, wanted: (name: string) => boolean): SheetRow[] {
  const zip = new Zip(body);
  const sheets = sheetsOf(part(zip, WORKBOOK), part(zip, RELATIONS));
  const sheet = sheets.find(({ name }) => wanted(name));
  if (!sheet) throw new Error(`the workbook does not have the expected sheet; it has ${namesOf(sheets)}`);
  const content = zip.read(sheet.path);
  if (!content) throw new Error('the workbook lists a sheet that it does not contain');
  const rows: SheetRow[] = [];
  let cells = 0;
  const reader = new SheetReader({ strings: sharedStrings(zip) }, (row) => {
    cells += row.cells.size;
    if (cells > CELLS_MAX) throw new Error(`the sheet has more than ${CELLS_MAX} cells`);
    rows.push(row);
  });
  reader.write(decode(content));
  reader.end();
  return rows;
}

/** The sheets in order, with the paths of their files. File numbers do not follow the order of the sheets. */
export function sheetsOf(workbook: Element | undefined, relations: Element | undefined): SheetPart[] {
  if (!workbook) throw new Error('the zip file is not an XLSX workbook');
  const targets = new Map(
    childrenOf(childrenOf(relations, 'Relationships')[0], 'Relationship').map((one) => [
      attributeOf(one, 'Id'),
      attributeOf(one, 'Target') ?? '',
    ]),
  );
  const sheets = childrenOf(childrenOf(childrenOf(workbook, 'workbook')[0], 'sheets')[0], 'sheet');
  return sheets.map((sheet) => {
    const target = targets.get(attributeOf(sheet, 'id')) ?? '';
    return {
      name: attributeOf(sheet, 'name') ?? '',
      isHidden: (attributeOf(sheet, 'state') ?? 'visible') !== 'visible',
      path: target === '' || target.startsWith('/') ? target.slice(1) : `xl/${target}`,
    };
  });
}

/** The names of the first sheets, for messages. */
export function namesOf(sheets: readonly SheetPart[]): string {
  const names = sheets.slice(0, 20).map(({ name }) => name.slice(0, 40));
  return names.join(', ') || 'none';
}

function part(zip: Zip, path: string): Element | undefined {
  const bytes = zip.read(path);
  return bytes && parseXml(decode(bytes));
}

function sharedStrings(zip: Zip): readonly string[] {
  const bytes = zip.read(STRINGS);
  if (!bytes) return [];
  const strings = new SharedStrings();
  strings.write(decode(bytes));
  return strings.end();
}
