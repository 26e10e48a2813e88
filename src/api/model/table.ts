import { csvText } from '../../client/csv.ts';

/** A `date` is YYYY-MM-DD, a `time` an ISO 8601 instant in UTC. A `number` may have decimals. */
export type ColumnType = 'text' | 'date' | 'time' | 'number' | 'integer' | 'boolean';

export interface FlatColumn {
  name: string;
  type: ColumnType;
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

/** Formats that are written as text, row by row. */
export type TextFormat = 'csv' | 'ndjson';

export type TableFormat = TextFormat | 'parquet';

/** The format of an answer. */
export type Format = 'json' | TableFormat;

/** The columns of a table, each as `name:type`, or as its name alone if it is text. */
export function columnsOf(columns: string): readonly FlatColumn[] {
  return columns.split(' ').map((column) => {
    const [name = '', type = 'text'] = column.split(':');
    return { name, type: type as ColumnType };
  });
}

/** Numbers and Booleans are written unquoted. */
function isPlain({ type }: FlatColumn): boolean {
  return type === 'number' || type === 'integer' || type === 'boolean';
}

/** Writes the first line of a table, and its rows. */
export interface TableWriter {
  head(columns: readonly FlatColumn[]): string;
  body(columns: readonly FlatColumn[], rows: readonly FlatRow[]): string;
}

const WRITERS: Readonly<Record<TextFormat, TableWriter>> = {
  /** RFC 4180, with a header. Lines end in CRLF. */
  csv: { head: (columns) => `${columns.map((column) => csvText(column.name)).join(',')}\r\n`, body: csvRows },
  /** One JSON object per line. */
  ndjson: { head: () => '', body: ndjsonRows },
};

export function tableWriter(format: TextFormat): TableWriter {
  return WRITERS[format];
}

export function writeTable({ columns, rows }: FlatTable, format: TextFormat): string {
  const { head, body } = WRITERS[format];
  return head(columns) + body(columns, rows);
}

function csvRows(columns: readonly FlatColumn[], rows: readonly FlatRow[]): string {
  const plain = columns.map(isPlain);
  let csv = '';
  for (const row of rows) {
    for (let i = 0; i < columns.length; i++) {
      if (i > 0) csv += ',';
      const cell = row[i];
      if (cell !== undefined) csv += plain[i] ? cell : csvText(cell);
    }
    csv += '\r\n';
  }
  return csv;
}

function ndjsonRows(columns: readonly FlatColumn[], rows: readonly FlatRow[]): string {
  const keys = columns.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  const plain = columns.map(isPlain);
  let lines = '';
  for (const row of rows) {
    for (let i = 0; i < columns.length; i++) {
      const cell = row[i];
      const isText = cell !== undefined && !plain[i];
      lines += keys[i]! + (isText ? JSON.stringify(cell) : (cell ?? 'null'));
    }
    lines += '}\n';
  }
  return lines;
}
