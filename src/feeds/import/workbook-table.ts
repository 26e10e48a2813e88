import { COLUMNS_MAX, type TextRow } from '../csv/row-splitter.ts';
import { type SheetContext, SheetReader, type SheetRow } from '../formats/xlsx/sheet.ts';
import { SharedStrings } from '../formats/xlsx/strings.ts';
import { dateStylesOf } from '../formats/xlsx/styles.ts';
import { RELATIONS, type SheetPart, STRINGS, sheetsOf, WORKBOOK } from '../formats/xlsx/workbook.ts';
import { attributeOf, childrenOf, type Element, parseXml } from '../formats/xml.ts';
import type { ByteSource } from './bytes.ts';
import { HEAD_ROWS_MAX, type Layout } from './layout.ts';
import type { PriceTable } from './price-table.ts';

type SourceOf = (path: string) => ByteSource | undefined;

const STYLES = 'xl/styles.xml';
/** Limit of parts that are read as a whole. A workbook with a thousand styles and sheets needs less than a million. */
const PART_CHARS_MAX = 16_000_000;

/** An XLSX file on disk. Sheets are streamed; only the shared strings are in memory. */
export class WorkbookFile {
  readonly sheets: readonly SheetPart[];
  readonly #sourceOf: SourceOf;
  readonly #context: SheetContext;

  private constructor(sheets: readonly SheetPart[], sourceOf: SourceOf, context: SheetContext) {
    this.sheets = sheets;
    this.#sourceOf = sourceOf;
    this.#context = context;
  }

  static async open(sourceOf: SourceOf): Promise<WorkbookFile> {
    const workbook = await part(sourceOf(WORKBOOK));
    const sheets = sheetsOf(workbook, await part(sourceOf(RELATIONS)));
    const properties = childrenOf(childrenOf(workbook, 'workbook')[0], 'workbookPr')[0];
    const from1904 = /^(1|true)$/.test((properties && attributeOf(properties, 'date1904')) ?? '');
    const dateStyles = dateStylesOf(await part(sourceOf(STYLES)));
    return new WorkbookFile(sheets, sourceOf, {
      strings: await strings(sourceOf(STRINGS)),
      dateStyles,
      from1904,
    });
  }

  /** The first rows of a sheet. */
  async head(sheet: SheetPart): Promise<TextRow[]> {
    const rows: TextRow[] = [];
    for await (const some of this.#rows(sheet)) {
      rows.push(...some);
      if (rows.length > HEAD_ROWS_MAX) break;
    }
    return rows;
  }

  /** The rows of a sheet, starting at the first row of data. */
  table(sheet: SheetPart, head: readonly TextRow[], layout: Layout): PriceTable {
    const firstLine = head[layout.firstRow]?.line ?? Number.POSITIVE_INFINITY;
    const all = (onRead?: (fileBytes: number) => void) => this.#rows(sheet, onRead);
    return {
      layout: { columns: layout.columns }, // cells of a workbook are never split, so more of them than in the header are fine
      delimiter: '\t',
      async *rows(onRead) {
        for await (const rows of all(onRead)) yield rows.filter(({ line }) => line >= firstLine);
      },
    };
  }

  async *#rows(sheet: SheetPart, onRead?: (fileBytes: number) => void): AsyncGenerator<TextRow[]> {
    const source = this.#sourceOf(sheet.path);
    if (!source) throw new Error('the workbook lists a sheet that it does not contain');
    let rows: TextRow[] = [];
    const reader = new SheetReader(this.#context, (row) => {
      if (row.cells.size > 0) rows.push(tableRow(row));
    });
    const decoder = new TextDecoder();
    for await (const chunk of source.chunks(onRead)) {
      reader.write(decoder.decode(chunk, { stream: true }));
      yield rows;
      rows = [];
    }
    reader.end();
    yield rows;
  }
}

/** Fills missing cells with empty text, and drops columns beyond the limit. */
function tableRow({ number, cells }: SheetRow): TextRow {
  const last = Math.min(Math.max(...cells.keys()), COLUMNS_MAX - 1);
  return { line: number, cells: Array.from({ length: last + 1 }, (_, column) => cells.get(column) ?? '') };
}

async function part(source: ByteSource | undefined): Promise<Element | undefined> {
  if (!source) return undefined;
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of source.chunks()) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > PART_CHARS_MAX)
      throw new Error(`a part of the workbook has more than ${PART_CHARS_MAX} characters`);
  }
  return parseXml(text);
}

async function strings(source: ByteSource | undefined): Promise<readonly string[]> {
  if (!source) return [];
  const decoder = new TextDecoder();
  const all = new SharedStrings();
  for await (const chunk of source.chunks()) all.write(decoder.decode(chunk, { stream: true }));
  return all.end();
}
