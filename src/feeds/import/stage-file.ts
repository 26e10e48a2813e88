import { type Day, FIRST_DAY } from '../../market/day.ts';
import type { CsvColumns } from '../csv/columns.ts';
import type { TextRow } from '../formats/table.ts';
import type { PriceTable } from './price-table.ts';
import { type Conventions, ConventionsFinder, RowReader, type RowSymbol } from './row-reader.ts';
import type { LineRemark, Staging } from './staging.ts';
import { openTable } from './table.ts';

/** How to read a file, where the file itself does not tell. */
export interface FileRules extends Partial<Conventions> {
  columns: CsvColumns;
  /** The sheet of a workbook, or the file in a zip. */
  part?: string;
  /** Timestamps with an offset belong to the day that they are on in this IANA zone. */
  zone?: string;
  /** The last day that a row may have. */
  latestDay: Day;
  symbolOf(code: string): RowSymbol;
  onProgress?(fileBytes: number, rows: number): void;
}

/** What a file says, beside the bars in the staging area. */
export class FileReport {
  /** Rows with a date and no value. Missing is never zero. */
  missing = 0;
  /** Rows that cannot be used. */
  readonly refused = new Remarks();
  /** Bars whose low or high does not hold their open and close. They are kept: a source's word is not repaired. */
  readonly odd = new Remarks();
  /** Bars of days that the ledger stores and no request can name. */
  before1900 = 0;
}

/** So many remarks are kept with their reasons; all are counted. */
const REMARKS_KEPT = 10_000;

export class Remarks {
  count = 0;
  readonly #first: LineRemark[] = [];

  add(remark: LineRemark): void {
    this.count++;
    if (this.#first.length < REMARKS_KEPT) this.#first.push(remark);
  }

  /** The first of them, by line. */
  get lines(): readonly LineRemark[] {
    return this.#first.sort((a, b) => a.line - b.line);
  }
}

/**
 * Reads a file of daily prices into the staging area: a date and either one value or open, high, low and close, in any
 * order of columns and rows, with lines before the header or without a header, and with the separators of any country
 * where they are clear. Throws when the file as a whole does not tell what it means.
 *
 * A file is read once, or twice when a row can be read in two ways: then the first pass finds what the whole file tells.
 */
export async function stageFile(path: string, rules: FileRules, staging: Staging): Promise<FileReport> {
  const table = await openTable(path, { columns: rules.columns, part: rules.part });
  return stageTable(table, rules, staging);
}

export async function stageTable(table: PriceTable, rules: FileRules, staging: Staging): Promise<FileReport> {
  const clear: Conventions = { dateOrder: rules.dateOrder, decimal: rules.decimal ?? 'point' };
  const report = await stageRows(table, rules, clear, staging, newFinder(table, rules));
  if (report) return report;
  staging.clear();
  const finder = newFinder(table, rules);
  for await (const rows of table.rows()) for (const row of rows) finder.see(row);
  return (await stageRows(table, rules, finder.conventions, staging))!;
}

function newFinder({ layout, delimiter }: PriceTable, { dateOrder, decimal }: FileRules): ConventionsFinder {
  return new ConventionsFinder(layout.columns, { dateOrder, decimal }, delimiter);
}

/** Undefined as soon as a row needs all rows to be read. */
async function stageRows(
  table: PriceTable,
  rules: FileRules,
  conventions: Conventions,
  staging: Staging,
  doubts?: ConventionsFinder,
): Promise<FileReport | undefined> {
  const { latestDay, zone, symbolOf, onProgress } = rules;
  const reader = new RowReader({ columns: table.layout.columns, latestDay, zone, symbolOf }, conventions);
  const report = new FileReport();
  let bytes = 0;
  let count = 0;
  for await (const rows of table.rows((read) => {
    bytes = read;
  })) {
    for (const row of rows) {
      if (doubts?.needsAllRows(row)) return undefined;
      stageRow(row, reader, report, staging);
    }
    count += rows.length;
    onProgress?.(bytes, count);
  }
  return report;
}

function stageRow(row: TextRow, reader: RowReader, report: FileReport, staging: Staging): void {
  const { line } = row;
  const result = reader.read(row);
  if (!result) return;
  if (result.kind === 'missing') report.missing++;
  else if (result.kind === 'refused') report.refused.add({ line, reason: result.reason });
  else {
    const { symbol, day, prices } = result;
    staging.add(symbol.number, day, line, prices);
    if (day < FIRST_DAY) report.before1900++;
    const reason = oddness(prices);
    if (reason) report.odd.add({ line, reason });
  }
}

function oddness([open, high, low, close]: readonly number[]): string | undefined {
  if (open === undefined || high === undefined || low === undefined || close === undefined) return undefined;
  if (low <= Math.min(open, close, high) && high >= Math.max(open, close)) return undefined;
  return `open ${open}, high ${high}, low ${low}, close ${close} do not fit together`;
}
