import type { Clock } from '../../runtime/clock.ts';
import type { Engine } from '../engine/engine.ts';
import { isCorrupt } from '../engine/errors.ts';
import { asNumber, onlyRow } from '../engine/rows.ts';
import { openEngine } from '../open-engine.ts';
import { ledgerTables } from '../schema/tables.ts';

/** How many pages are read by one statement: 64 MB, well within its time limit. */
const PAGES_PER_STATEMENT = 8_192;

/** Whether every page of the ledger's tables can be read. Indexes are not looked at: that takes a superuser. */
export async function isPostgresSound(url: string, clock: Clock): Promise<boolean> {
  const engine = await openEngine(url, clock, 'inspecting');
  try {
    for (const { name } of ledgerTables()) await readPages(engine, name);
    return true;
  } catch (error) {
    if (isCorrupt(error)) return false;
    throw error;
  } finally {
    await engine.close();
  }
}

async function readPages({ read }: Engine, table: string): Promise<void> {
  const row = onlyRow(
    await read`SELECT pg_relation_size(to_regclass(${table})) /
      CAST(current_setting('block_size') AS BIGINT) AS pages`,
  );
  const pages = asNumber(row.pages ?? 0);
  for (let from = 0; from < pages; from += PAGES_PER_STATEMENT) {
    const range = `ctid >= '(${from},0)'::tid AND ctid < '(${from + PAGES_PER_STATEMENT},0)'::tid`;
    await read.unsafe(`SELECT count(*) FROM ${table} WHERE ${range}`);
  }
}
