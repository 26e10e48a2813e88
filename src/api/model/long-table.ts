import { type FlatColumn, type FlatRow, type FlatTable, type TextFormat, writeTable } from './table.ts';

/** Rows that one unit pays for, which is also the size of a page of JSON. */
export const ROWS_PER_UNIT = 2_000;

/** Consecutive rows of a table, as text in UTF-8. The bytes never change. */
export interface EncodedRows {
  bytes: Uint8Array;
  rows: number;
}

/** The rows of a table as text, without its header. */
export interface RenderedTable {
  /** In order. Each piece takes a fraction of a millisecond. */
  pieces(): Iterable<EncodedRows>;
  /** All rows, if their text is in memory, and otherwise undefined. */
  ready(): readonly EncodedRows[] | undefined;
}

/** A table too long to be written in one go. It reads immutable prices, so its rows can be counted in advance. */
export interface LongTable {
  columns: readonly FlatColumn[];
  /** Everything the rows depend on, for the entity tag: the query, and a digest of the prices. */
  state: string;
  count(): Promise<number>;
  /** Whether it may have fewer rows than counted: a formula has no value where it divides by zero. */
  mayHaveFewer?: boolean;
  /** The rows in order, in pieces that each take a fraction of a millisecond. */
  pieces(): Iterable<readonly FlatRow[]>;
  /** The same rows as text, if that is faster than writing `pieces`. */
  rendered?(format: TextFormat): RenderedTable;
  /** What this number of rows costs. */
  unitsOf(rows: number): number;
}

/** A short table as a long one. It costs one unit, unless its rows have a weight. */
export function asLongTable(table: FlatTable): LongTable {
  const { columns, rows, rowWeight } = table;
  return {
    columns,
    state: writeTable(table, 'csv'),
    count: async () => rows.length,
    pieces: () => [rows],
    unitsOf: (count) => (rowWeight === undefined ? 1 : unitsByRows(count * rowWeight)),
  };
}

/** One unit per started 2,000 rows, and at least one: the same as for pages of JSON. */
export function unitsByRows(rows: number): number {
  return Math.max(1, Math.ceil(rows / ROWS_PER_UNIT));
}
