import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { SQL } from 'bun';
import { Ledger } from '../../src/ledger/ledger.ts';
import { fixedClock } from '../support/ledgers.ts';
import { newDatabase } from '../support/postgres.ts';

setDefaultTimeout(180_000);
let ledger: Ledger;
let other: SQL;
beforeAll(async () => {
  const url = await newDatabase();
  ledger = await Ledger.open(url, fixedClock, 'serving');
  other = new SQL({ url, max: 1 });
});
afterAll(async () => {
  await ledger.close();
  await other.close();
});

/** Two statements whose columns a new column changes, on every connection of the pool. */
const transactions = () =>
  Promise.all(
    Array.from({ length: 12 }, () =>
      ledger.engine.write(async (tx) => {
        const [plan] = await tx`UPDATE plan SET quota = quota WHERE name = ${'free'} RETURNING *`;
        const [meta] = await tx`UPDATE meta SET value = value WHERE name = ${'epoch'} RETURNING *`;
        return { plan, meta };
      }),
    ),
  );

test('transactions whose prepared statements a migration made stale run again, and none fails', async () => {
  await transactions();
  for (const column of ['one', 'two', 'three']) {
    for (const table of ['plan', 'meta'])
      await other.unsafe(`ALTER TABLE ${table} ADD COLUMN ${column} INTEGER`);
    for (const { plan, meta } of await transactions()) {
      expect(plan).toHaveProperty(column);
      expect(meta).toHaveProperty(column);
    }
  }
});

test('reads whose prepared statements a migration made stale return the new columns', async () => {
  const read = () =>
    Promise.all(
      Array.from({ length: 20 }, () => ledger.engine.read`SELECT * FROM plan WHERE name = ${'free'}`),
    );
  await read();
  await other.unsafe('ALTER TABLE plan ADD COLUMN four INTEGER');
  for (const [plan] of await read()) expect(plan).toHaveProperty('four');
});
