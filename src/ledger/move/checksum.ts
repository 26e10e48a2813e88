import type { Engine } from '../engine/engine.ts';
import type { RowValues, Sql } from '../engine/rows.ts';
import type { LedgerTable } from '../schema/tables.ts';
import { pagesOf } from './rows.ts';

/** The content of a table, independent of the engine: the number of rows and the sum of their hashes. */
export interface TableSum {
  rows: number;
  /** 16 hexadecimal digits. */
  checksum: string;
}

/**
 * Sums 64-bit hashes of rows. A sum does not depend on the row order, which differs between engines (collations). Numbers
 * are hashed as JavaScript prints them, which is unique for each float.
 */
class RowSum {
  #rows = 0;
  #sum = 0n;

  add(row: RowValues): void {
    this.#rows++;
    this.#sum = BigInt.asUintN(64, this.#sum + Bun.hash.xxHash3(JSON.stringify(row)));
  }

  get total(): TableSum {
    return { rows: this.#rows, checksum: this.#sum.toString(16).padStart(16, '0') };
  }
}

export function sumRows(rows: readonly RowValues[]): TableSum {
  const sum = new RowSum();
  for (const row of rows) sum.add(row);
  return sum.total;
}

/** Reads a whole table. `onRows` is called with the number of rows of each page. */
export async function sumTable(
  engine: Engine,
  handle: Sql,
  table: LedgerTable,
  onRows: (count: number) => void = () => {},
): Promise<TableSum> {
  const sum = new RowSum();
  for await (const { rows } of pagesOf(engine, handle, table)) {
    for (const row of rows) sum.add(row);
    onRows(rows.length);
  }
  return sum.total;
}
