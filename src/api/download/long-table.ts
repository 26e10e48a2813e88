import type { Column, Row } from '../model/table.ts';

/** The most rows of one unit: as many as a page of JSON has. */
export const ROWS_PER_UNIT = 2_000;

/** A table that takes too long to be written in one go. What it reads does not change, so its rows can be counted first. */
export interface LongTable {
  columns: readonly Column[];
  /** Names all that the rows follow from, for the entity tag: the query, and a digest of the prices it reads. */
  state: string;
  count(): Promise<number>;
  /** The rows in order, in pieces that take a fraction of a millisecond each. */
  pieces(): Iterable<readonly Row[]>;
  /** The units that this number of rows costs. */
  unitsOf(rows: number): number;
}

/** One unit for each started 2,000 rows, and one for none: the price of the same rows as pages of JSON. */
export function unitsByRows(rows: number): number {
  return Math.max(1, Math.ceil(rows / ROWS_PER_UNIT));
}
