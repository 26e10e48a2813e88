import { FIRST_DAY } from '../../market/day.ts';
import type { CsvColumns } from '../csv/columns.ts';
import type { TextRow } from '../csv/row-splitter.ts';
import type { PriceTable } from './price-table.ts';
import { type Conventions, ConventionsFinder, RowReader, type RowSymbol } from './row-reader.ts';
import type { LineRemark, Staging } from './staging.ts';
import { openTable } from './table.ts';

/** How to read a file, as far as the file itself is not clear. */
export interface FileRules extends Partial<Conventions> {
  columns: CsvColumns;
  /** The sheet of a workbook, or the file in a zip. */
  part?: string;
  /** Timestamps with an offset belong to their day in this IANA zone. */
  zone?: string;
  /** When the file is read: prices of later trade dates are refused. */
  now: number;
  symbolOf(code: string, line: number): RowSymbol;
  onProgress?(fileBytes: number, rows: number): void;
}

/** What was found in a file, besides the staged bars. */
export class FileReport {
  /** Rows with a date but no value. They are never read as zero. */
  missing = 0;
  /** Unusable rows. */
  readonly refused = new Remarks();
  /** Bars before the first day that requests can name. */
  before1900 = 0;
}

/** How many remarks are stored; all are counted. */
const REMARKS_KEPT = 10_000;

export class Remarks {
  count = 0;
  readonly #first: LineRemark[] = [];

  add(remark: LineRemark): void {
    this.count++;
    if (this.#first.length < REMARKS_KEPT) this.#first.push(remark);
  }

  /** The first remarks, by line. */
  get lines(): readonly LineRemark[] {
    return this.#first.sort((a, b) => a.line - b.line);
  }
}

/**
 * Stages a file of daily prices: a date and either one value or open, high, low and close, in any order of columns and rows,
 * with or without a header and lines before it, with the separators of any country. Throws if the file is ambiguous.
 *
 * A file is read once, or twice if it has an ambiguous row: then a first pass derives the conventions from all rows.
 */
export async function stageFile(path: string, rules: FileRules, staging: Staging): Promise<FileReport> {
  const table = await openTable(path, { columns: rules.columns, part: rules.part });
  return stageTable(table, rules, staging);
}

export async function stageTable(table: PriceTable, rules: FileRules, staging: Staging): Promise<FileReport> {
  const defaults: Conventions = { dateOrder: rules.dateOrder, decimal: rules.decimal ?? 'point' };
  const report = await stageRows(table, rules, defaults, staging, newFinder(table, rules));
  if (report) return report;
  staging.clear();
  const finder = newFinder(table, rules);
  for await (const rows of table.rows()) for (const row of rows) finder.add(row);
  return (await stageRows(table, rules, finder.conventions, staging))!;
}

function newFinder({ layout, delimiter }: PriceTable, { dateOrder, decimal }: FileRules): ConventionsFinder {
  return new ConventionsFinder(layout.columns, { dateOrder, decimal }, delimiter);
}

/** Undefined if a row is ambiguous, so that the conventions of all rows are needed. */
async function stageRows(
  table: PriceTable,
  rules: FileRules,
  conventions: Conventions,
  staging: Staging,
  finder?: ConventionsFinder,
): Promise<FileReport | undefined> {
  const { now, zone, symbolOf, onProgress } = rules;
  const reader = new RowReader({ ...table.layout, now, zone, symbolOf }, conventions);
  const report = new FileReport();
  let bytes = 0;
  let count = 0;
  for await (const rows of table.rows((read) => {
    bytes = read;
  })) {
    for (const row of rows) {
      if (finder?.needsAllRows(row)) return undefined;
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
  }
}
