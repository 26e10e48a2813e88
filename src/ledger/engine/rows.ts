import { messageOf } from '../../runtime/log/log.ts';
/**
 * Rows as both engines return them. This is the only place that decodes their values: PostgreSQL returns BIGINT, counts
 * and sums as text, SQLite as numbers. Nothing that leaves a statement is `any`.
 */
export type Cell = string | number | null;

export type Row = Readonly<Record<string, Cell>>;

/** One row to insert, in the order of the columns. */
export type RowValues = readonly Cell[];

/** A statement; awaiting it returns its rows. */
export interface SqlQuery extends Promise<Row[]> {
  /** The rows as arrays, which is faster for many rows. */
  values(): Promise<Cell[][]>;
  /** Sends the statement now instead of when it is awaited. */
  execute(): SqlQuery;
  /** The input of a COPY; PostgreSQL only. */
  writable(): WritableStream<string>;
}

/** The part of Bun's `SQL` that the ledger uses. */
export interface Sql {
  (text: TemplateStringsArray, ...values: readonly unknown[]): SqlQuery;
  unsafe(text: string, values?: readonly unknown[]): SqlQuery;
}

/** Bun's handle, whose rows are `any`, with typed rows. */
export function typed(handle: unknown): Sql {
  return handle as Sql;
}

/** Decodes one cell. Throws when it holds a value of another kind, or when the row has no such column. */
export type ReadCell<T> = (cell: Cell | undefined) => T;

/** Decodes rows of one type. */
export interface SqlRowReader<T> {
  /** The column list of a SELECT or RETURNING. */
  readonly columns: string;
  /** The column list of a table with an alias. */
  columnsOf(alias: string): string;
  read(row: Row): T;
  /** The number of columns. */
  readonly width: number;
  /** Decodes a row that is an array of cells, where these columns begin at an index. */
  readCells(cells: readonly (Cell | undefined)[], at?: number): T;
}

/**
 * Declares the columns of a row type, once: a field `delaySeconds` is the column `delay_seconds`. The compiler checks the
 * declaration against the type; reading a row checks the columns against the declaration.
 */
export function rowReader<T>(fields: { readonly [K in keyof T]-?: ReadCell<T[K]> }): SqlRowReader<T> {
  const entries = Object.entries<ReadCell<unknown>>(fields).map(([field, read]) => ({
    field,
    column: field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    read,
  }));
  return {
    columns: entries.map(({ column }) => column).join(', '),
    columnsOf: (alias) => entries.map(({ column }) => `${alias}.${column}`).join(', '),
    width: entries.length,
    read(row) {
      const decoded: Record<string, unknown> = {};
      for (const { field, column, read } of entries) decoded[field] = readColumn(row[column], column, read);
      return decoded as T;
    },
    readCells(cells, at = 0) {
      const decoded: Record<string, unknown> = {};
      let next = at;
      for (const { field, column, read } of entries) decoded[field] = readColumn(cells[next++], column, read);
      return decoded as T;
    },
  };
}

/** The row of a statement that always returns one: a count, or the update of an existing row. */
export function onlyRow(rows: readonly Row[]): Row {
  const [row] = rows;
  if (!row) throw new Error('a statement that always returns a row returned none');
  return row;
}

export function asNumber(cell: Cell | undefined): number {
  const number = typeof cell === 'string' && cell !== '' ? Number(cell) : cell;
  if (typeof number !== 'number' || Number.isNaN(number)) throw wrongKind(cell, 'a number');
  return number;
}

export function asText(cell: Cell | undefined): string {
  if (typeof cell !== 'string') throw wrongKind(cell, 'text');
  return cell;
}

/** Both engines store a boolean as 0 or 1. */
export function asFlag(cell: Cell | undefined): boolean {
  const number = asNumber(cell);
  if (number !== 0 && number !== 1) throw wrongKind(cell, '0 or 1');
  return number === 1;
}

export function asOneOf<T extends string>(...known: readonly T[]): ReadCell<T> {
  return (cell) => {
    const text = asText(cell) as T;
    if (!known.includes(text)) throw wrongKind(cell, known.join(' or '));
    return text;
  };
}

export function asJson<T>(): ReadCell<T> {
  return (cell) => JSON.parse(asText(cell)) as T;
}

/** `undefined` where the column is NULL. */
export function optional<T>(read: ReadCell<T>): ReadCell<T | undefined> {
  return (cell) => (cell === null ? undefined : read(cell));
}

export function nullable<T>(read: ReadCell<T>): ReadCell<T | null> {
  return (cell) => (cell === null ? null : read(cell));
}

function readColumn<T>(cell: Cell | undefined, column: string, read: ReadCell<T>): T {
  try {
    return read(cell);
  } catch (error) {
    throw new TypeError(`column ${column}: ${messageOf(error)}`);
  }
}

function wrongKind(cell: Cell | undefined, expected: string): TypeError {
  const found = cell === undefined ? 'no such column' : `found ${JSON.stringify(cell)}`;
  return new TypeError(`${found}, expected ${expected}`);
}
