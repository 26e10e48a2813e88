/**
 * Rows as both engines return them. This is the only place where their values become numbers and texts: PostgreSQL
 * returns BIGINT, counts and sums as text, SQLite as numbers. Nothing that leaves a statement is `any`.
 */
export type Cell = string | number | null;

export type Row = Readonly<Record<string, Cell>>;

/** One row to insert, in the order of the columns. */
export type RowValues = readonly Cell[];

/** The result of a statement, once it has been awaited. */
export interface SqlQuery extends Promise<Row[]> {
  /** The rows as lists of values, which is faster for many rows. */
  values(): Promise<Cell[][]>;
  /** Sends it at once instead of at the end of the turn. */
  execute(): SqlQuery;
  /** The input of a COPY; PostgreSQL only. */
  writable(): WritableStream<string>;
}

/** What the ledger uses of Bun's `SQL`. */
export interface Sql {
  (text: TemplateStringsArray, ...values: readonly unknown[]): SqlQuery;
  unsafe(text: string, values?: readonly unknown[]): SqlQuery;
}

/** Bun's handle, whose rows are `any`, as the ledger uses it. */
export function typed(handle: unknown): Sql {
  return handle as Sql;
}

/** The row of a statement that always returns one: a count, or an update of a row that is there. */
export function onlyRow(rows: readonly Row[]): Row {
  const [row] = rows;
  if (!row) throw new Error('a statement that always returns a row returned none');
  return row;
}

export function asNumber(cell: Cell | undefined): number {
  const number = Number(cell ?? Number.NaN);
  if (Number.isNaN(number)) throw new TypeError(`a column holds ${cell} where a number belongs`);
  return number;
}

/** Undefined where the column is NULL. */
export function asNumberIfAny(cell: Cell | undefined): number | undefined {
  return cell === null ? undefined : asNumber(cell);
}

export function asTextOrNull(cell: Cell | undefined): string | null {
  return cell === null ? null : asText(cell);
}

export function asText(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) throw new TypeError(`a column holds ${cell} where a text belongs`);
  return String(cell);
}
