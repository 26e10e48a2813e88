import { expect, test } from 'bun:test';
import { SQL } from 'bun';
import { stopPostgres } from '../postgres.ts';
import { readyLedgerUrl } from './ready-ledger.ts';

test('a ready ledger is on the server that runs now, also after another one was stopped', async () => {
  await readyLedgerUrl('postgres');
  await stopPostgres();
  const sql = new SQL(await readyLedgerUrl('postgres'), { max: 1 });
  expect(await sql`SELECT count(*) > 100 AS filled FROM symbol`).toEqual([{ filled: true }]);
  await sql.close();
}, 180_000);
