import type { Cell, Row } from '../../../src/ledger/engine/rows.ts';
import { insertRows } from '../../../src/ledger/engine/statements.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';

const TABLES = ['quota_period', 'quota_lease', 'quota_holder', 'quota_signal', 'usage_day'] as const;

/** A snapshot of a ledger's counts that can be restored, like a failover that loses writes. */
export class OlderCounts {
  readonly #rows: ReadonlyMap<string, readonly Row[]>;

  private constructor(rows: ReadonlyMap<string, readonly Row[]>) {
    this.#rows = rows;
  }

  static async of(ledger: Ledger): Promise<OlderCounts> {
    const rows = new Map<string, readonly Row[]>();
    for (const table of TABLES) rows.set(table, await ledger.engine.read.unsafe(`SELECT * FROM ${table}`));
    return new OlderCounts(rows);
  }

  async restore(ledger: Ledger): Promise<void> {
    await ledger.engine.write(async (tx) => {
      for (const [table, rows] of this.#rows) {
        await tx.unsafe(`DELETE FROM ${table}`);
        const columns = Object.keys(rows[0] ?? {});
        const cells = rows.map((row) => columns.map((column) => row[column] as Cell));
        await insertRows(ledger.engine, tx, `${table} (${columns.join(', ')})`, cells);
      }
    });
  }
}
