import type { Engine } from '../engine/engine.ts';
import { asNumber, onlyRow, type RowValues, type Sql } from '../engine/rows.ts';
import { listOf } from '../engine/statements.ts';
import type { ColumnKind, LedgerTable } from '../schema/tables.ts';

type Cell = RowValues[number];

/** About 1 MB of bars: large enough that a commit costs little, small enough that memory stays constant. */
const ROWS_PER_PAGE = 10_000;

/** One page of rows in the order of the primary key, with the key of its last row. */
export interface Page {
  rows: RowValues[];
  last: RowValues;
}

/** Which rows of a table are read. */
export interface PageOptions {
  /** Only rows after this key, in the order of the engine that is read. */
  after?: RowValues | undefined;
  rowsPerPage?: number;
}

/** The rows of a table in pages. Keys instead of OFFSET: each page is one index range, however far along it is. */
export async function* pagesOf(
  engine: Engine,
  handle: Sql,
  table: LedgerTable,
  { after, rowsPerPage = ROWS_PER_PAGE }: PageOptions = {},
): AsyncGenerator<Page> {
  const { key, columns } = table;
  const keyAt = key.map((name) => columns.findIndex((column) => column.name === name));
  const select = `SELECT ${columns.map(({ name }) => name).join(', ')} FROM ${table.name}`;
  const order = `ORDER BY ${key.join(', ')} LIMIT ${rowsPerPage}`;
  const next = `${select} WHERE (${key.join(', ')}) > (${listOf(engine, key.length)}) ${order}`;
  for (let last = after; ; ) {
    const found: Cell[][] =
      last === undefined
        ? await handle.unsafe(`${select} ${order}`).values()
        : await handle.unsafe(next, [...last]).values();
    if (found.length === 0) return;
    for (const row of found) normalize(table, row);
    const end = found.at(-1)!;
    last = keyAt.map((at) => end[at]!);
    yield { rows: found, last };
    if (found.length < rowsPerPage) return;
  }
}

export async function countRows(handle: Sql, table: LedgerTable): Promise<number> {
  return asNumber(onlyRow(await handle.unsafe(`SELECT count(*) AS n FROM ${table.name}`)).n);
}

/** Makes rows of both engines equal: PostgreSQL returns BIGINT as text. */
function normalize(table: LedgerTable, row: Cell[]): void {
  for (const [i, column] of table.columns.entries()) {
    const cell = row[i]!;
    if (cell === null) continue;
    const value = READ[column.kind](cell);
    if (value === undefined) {
      throw new Error(`${table.name}.${column.name} holds ${JSON.stringify(cell)}, which cannot be moved`);
    }
    row[i] = value;
  }
}

/** Undefined for a value that the other engine cannot store exactly. */
const READ: Readonly<Record<ColumnKind, (cell: string | number) => Cell | undefined>> = {
  // SQLite keeps fractions in a BIGINT column, which earlier versions wrote for times; PostgreSQL rounds them.
  whole(cell) {
    const value = Math.round(Number(cell));
    return Number.isSafeInteger(value) ? value : undefined;
  },
  // SQLite stores -0 as 0; adding 0 does the same.
  float: (cell) => (typeof cell === 'number' && Number.isFinite(cell) ? cell + 0 : undefined),
  // PostgreSQL does not allow NUL in text.
  text: (cell) => (typeof cell === 'string' && !cell.includes('\0') ? cell : undefined),
};
