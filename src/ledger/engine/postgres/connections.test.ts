import { expect, test } from 'bun:test';
import { SQL } from 'bun';
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

test.each([
  ['directly', ''],
  ['through a pooler', '?prepare=false'],
])(
  'a stricter default isolation does not apply when connected to %s: syncs would fail',
  async (_, search) => {
    const url = await newDatabase();
    const admin = new SQL({ url, max: 1 });
    await admin.unsafe(
      `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_isolation = 'serializable'`,
    );
    await admin.close();
    const ledger = await Ledger.open(`${url}${search}`, fixedClock);
    const isolation = `SELECT current_setting('transaction_isolation') AS level`;
    expect(onlyRow(await ledger.engine.read.unsafe(isolation)).level).toBe('read committed');
    expect(onlyRow(await ledger.engine.write((tx) => tx.unsafe(isolation))).level).toBe('read committed');
    await ledger.close();
  },
);
