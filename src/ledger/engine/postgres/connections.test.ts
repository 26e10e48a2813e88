import { expect, test } from 'bun:test';
import { fixedClock } from '../../../../test/support/ledgers.ts';
import { newDatabase } from '../../../../test/support/postgres.ts';
import { Ledger } from '../../ledger.ts';
import { onlyRow } from '../rows.ts';

test.each([
  ['directly', ''],
  ['through a pooler', '?prepare=false'],
])('PostgreSQL, connected to %s, never compiles a statement', async (_, search) => {
  const ledger = await Ledger.open(`${await newDatabase()}${search}`, fixedClock);
  const jit = `SELECT current_setting('jit') AS jit`;
  expect(onlyRow(await ledger.engine.read.unsafe(jit)).jit).toBe('off');
  expect(onlyRow(await ledger.engine.write((tx) => tx.unsafe(jit))).jit).toBe('off');
  await ledger.close();
});
