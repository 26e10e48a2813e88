import type { Cell, Row, Sql } from '../../../src/ledger/engine/rows.ts';
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
    await ledger.engine.write(async (tx) => {
      await lockCounts(ledger, tx);
      for (const table of TABLES) rows.set(table, await tx.unsafe(`SELECT * FROM ${table}`));
    });
    return new OlderCounts(rows);
  }

  async restore(ledger: Ledger): Promise<void> {
    await ledger.engine.write(async (tx) => {
      await lockCounts(ledger, tx);
      for (const [table, rows] of this.#rows) {
        await tx.unsafe(`DELETE FROM ${table}`);
        const columns = Object.keys(rows[0] ?? {});
        const cells = rows.map((row) => columns.map((column) => row[column] as Cell));
        await insertRows(ledger.engine, tx, `${table} (${columns.join(', ')})`, cells);
      }
    });
  }
}

/** Keeps the meters from writing between two tables. SQLite has one writer at a time. */
async function lockCounts({ engine }: Ledger, tx: Sql): Promise<void> {
  if (engine.name === 'postgres') await tx.unsafe(`LOCK TABLE ${TABLES.join(', ')} IN EXCLUSIVE MODE`);
}
