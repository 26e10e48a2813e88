import { afterAll, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { Ledger } from '../../src/ledger/ledger.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { day, newSymbol } from '../support/ledgers.ts';
import { newDatabase, stopPostgres } from '../support/postgres.ts';

afterAll(stopPostgres);

const DAY = day('2026-07-15');
const MIDNIGHT = DAY * 86_400_000;
const TICKS = 5_000;

/** How many entries of the index `tick_by_day` some reads look at, on a table that PostgreSQL has no statistics of. */
async function entriesRead(read: (ledger: Ledger, symbolId: number) => Promise<unknown>): Promise<number> {
  const url = await newDatabase();
  const first = await Ledger.open(url, systemClock);
  const { id } = await newSymbol(first);
  await first.close();
  const sql = new SQL(url, { max: 1 });
  try {
    await sql.unsafe('ALTER TABLE tick SET (autovacuum_enabled = false)');
    await sql.unsafe(`INSERT INTO source (id, name) VALUES (77, 'exchange')`);
    await sql.unsafe(`INSERT INTO tick (symbol_id, source_id, tick_id, day, at, received, price, revision)
      SELECT ${id}, 77, 'id-' || i, ${DAY}, ${MIDNIGHT} + i * 1000, ${MIDNIGHT} + i * 1000 + 40, 100, 1000
      FROM generate_series(1, ${TICKS}) AS n (i) ORDER BY random()`);
    const ledger = await Ledger.open(url, systemClock);
    await read(ledger, id);
    await ledger.close(); // its connections report their statistics when they end
    return await until(async () => {
      const [row] = await sql`
        SELECT sum(idx_tup_read) AS entries, (SELECT count(*) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()) AS others
        FROM pg_stat_user_indexes WHERE relname = 'tick'`;
      return Number(row.others) === 0 ? Number(row.entries) : undefined;
    });
  } finally {
    await sql.close();
  }
}

async function until<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    await Bun.sleep(20);
  }
}

test('without statistics, the last visible ticks are read from the end of the day', async () => {
  const horizons = [0, 60, 600, 3_600].map((delay) => MIDNIGHT + (TICKS - delay) * 1_000);
  const repeats = 10; // PostgreSQL plans the first five executions of a statement anew
  const entries = await entriesRead(async (ledger, symbolId) => {
    for (let i = 0; i < repeats; i++) {
      const ticks = await ledger.ticks.last({ symbolId, origin: 'real', day: DAY }, horizons);
      expect(ticks.map((tick) => tick?.at)).toEqual(horizons.map((horizon) => horizon - 1_000));
    }
  });
  expect(entries).toBeLessThan(repeats * horizons.length * 50);
});

test('without statistics, a fold reads each tick about once', async () => {
  const entries = await entriesRead(async (ledger, symbolId) => {
    const limits = { madeBy: MIDNIGHT + TICKS * 1_000, receivedBy: MIDNIGHT + TICKS * 2_000 };
    const fold = await ledger.ticks.fold({ symbolId, origin: 'real', day: DAY }, limits);
    expect(fold?.close.at).toBe(MIDNIGHT + TICKS * 1_000);
  });
  expect(entries).toBeLessThan(TICKS * 2);
});
