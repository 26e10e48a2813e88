import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { SQL } from 'bun';
import { Ledger } from '../../src/ledger/ledger.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { day, newSymbol } from '../support/ledgers.ts';
import { newDatabase } from '../support/postgres.ts';

setDefaultTimeout(180_000);

const DAY = day('2026-07-15');
const MIDNIGHT = DAY * 86_400_000;
const TICKS = 20_000;

let url: string;
let symbolId: number;
let sql: SQL;
beforeAll(async () => {
  url = await newDatabase();
  const ledger = await Ledger.open(url, systemClock);
  symbolId = (await newSymbol(ledger)).id;
  await ledger.close();
  sql = new SQL(url, { max: 1 });
  await sql.unsafe('ALTER TABLE tick SET (autovacuum_enabled = false)');
  await sql.unsafe(`INSERT INTO source (id, name) VALUES (77, 'exchange')`);
  await sql.unsafe(`INSERT INTO tick (symbol_id, source_id, tick_id, day, at, received, price, revision)
    SELECT ${symbolId}, 77, 'id-' || i, ${DAY}, ${MIDNIGHT} + i * 1000, ${MIDNIGHT} + i * 1000 + 40, 100, 1000 + i
    FROM generate_series(1, ${TICKS}) AS n (i) ORDER BY random()`);
});
afterAll(() => sql.close());

/** How many index entries some reads look at. PostgreSQL has no statistics of the table. */
async function entriesRead(read: (ledger: Ledger) => Promise<unknown>): Promise<number> {
  const before = await entries();
  const ledger = await Ledger.open(url, systemClock);
  await read(ledger);
  await ledger.close(); // its connections report their statistics when they end
  return (await entries()) - before;
}

/** Waits until no other connection is left. */
async function entries(): Promise<number> {
  return until(async () => {
    const [row] = await sql`
      SELECT sum(idx_tup_read) AS entries, (SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()) AS others
      FROM pg_stat_user_indexes WHERE relname = 'tick'`;
    return Number(row.others) === 0 ? Number(row.entries) : undefined;
  });
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
  const repeats = 10; // PostgreSQL plans each of the first five executions of a statement
  const found = await entriesRead(async (ledger) => {
    for (let i = 0; i < repeats; i++) {
      const ticks = await ledger.ticks.last({ symbolId, origin: 'real', day: DAY }, horizons);
      expect(ticks.map((tick) => tick?.at)).toEqual(horizons.map((horizon) => horizon - 1_000));
    }
  });
  expect(found).toBeLessThan(repeats * horizons.length * 50);
});

test('without statistics, a fold reads each tick about once', async () => {
  const found = await entriesRead(async (ledger) => {
    const limits = { madeBy: MIDNIGHT + TICKS * 1_000, receivedBy: MIDNIGHT + TICKS * 2_000 };
    const fold = await ledger.ticks.fold({ symbolId, origin: 'real', day: DAY }, limits);
    expect(fold?.close.at).toBe(MIDNIGHT + TICKS * 1_000);
  });
  expect(found).toBeLessThan(TICKS * 2);
});

test('without statistics, the first page of a fold and the search for late ticks do not read the whole day', async () => {
  const repeats = 10;
  const of = { symbolId, origin: 'real', day: DAY } as const;
  const found = await entriesRead(async (ledger) => {
    const limits = { madeBy: MIDNIGHT, receivedBy: MIDNIGHT, signal: AbortSignal.abort() };
    for (let i = 0; i < repeats; i++) {
      await ledger.ticks.fold(of, limits);
      expect(await ledger.ticks.hasAfter(of, MIDNIGHT)).toBe(true);
      expect(await ledger.ticks.hasAfter(of, MIDNIGHT + TICKS * 1_000)).toBe(false);
    }
  });
  expect(found).toBeLessThan(repeats * 200);
});

test('without statistics, a page of changed ticks is read in the order of revisions', async () => {
  const found = await entriesRead(async (ledger) => {
    expect(await ledger.ticks.tickDays.changed(1_000, 1_000_000)).toEqual([{ symbolId, day: DAY }]);
  });
  expect(found).toBeLessThan(TICKS * 2);
});
