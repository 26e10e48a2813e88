/** A column is text, or plain: a number or Boolean that is written unquoted. */
export interface FlatColumn {
  name: string;
  kind: 'text' | 'plain';
}

/** A cell is text; undefined if there is no value. */
export type FlatRow = readonly (string | undefined)[];

/** An answer as flat rows. */
export interface FlatTable {
  columns: readonly FlatColumn[];
  rows: readonly FlatRow[];
  /** How many rows each row is charged as; 1 if omitted. */
  rowWeight?: number;
}

export type TableFormat = 'csv' | 'ndjson';

/** The format of an answer. */
export type Format = 'json' | TableFormat;

/** The columns of a table by name; those that begin with `#` are plain. */
export function columnsOf(names: string): readonly FlatColumn[] {
  return names
    .split(' ')
    .map((name) => (name.startsWith('#') ? { name: name.slice(1), kind: 'plain' } : { name, kind: 'text' }));
}

/** Writes the first line of a table, and its rows. */
export interface TableWriter {
  head(columns: readonly FlatColumn[]): string;
  body(columns: readonly FlatColumn[], rows: readonly FlatRow[]): string;
}

const WRITERS: Readonly<Record<TableFormat, TableWriter>> = {
  /** RFC 4180, with a header. Lines end in CRLF. */
  csv: { head: (columns) => `${columns.map((column) => csvText(column.name)).join(',')}\r\n`, body: csvRows },
  /** One JSON object per line. */
  ndjson: { head: () => '', body: ndjsonRows },
};

export function tableWriter(format: TableFormat): TableWriter {
  return WRITERS[format];
}

export function writeTable({ columns, rows }: FlatTable, format: TableFormat): string {
  const { head, body } = WRITERS[format];
  return head(columns) + body(columns, rows);
}

function csvRows(columns: readonly FlatColumn[], rows: readonly FlatRow[]): string {
  let csv = '';
  for (const row of rows) {
    for (let i = 0; i < columns.length; i++) {
      if (i > 0) csv += ',';
      const cell = row[i];
      if (cell !== undefined) csv += columns[i]!.kind === 'plain' ? cell : csvText(cell);
    }
    csv += '\r\n';
  }
  return csv;
}

function ndjsonRows(columns: readonly FlatColumn[], rows: readonly FlatRow[]): string {
  const keys = columns.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  let lines = '';
  for (const row of rows) {
    for (let i = 0; i < columns.length; i++) {
      const cell = row[i];
      const plain = cell === undefined || columns[i]!.kind === 'plain';
      lines += keys[i]! + (plain ? (cell ?? 'null') : JSON.stringify(cell));
    }
    lines += '}\n';
  }
  return lines;
}

/** Spreadsheets execute text that starts like this as a formula. A leading apostrophe prevents that. */
const FORMULA = /^[=+\-@\t\r]/;

function csvText(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
