import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { SQL } from 'bun';
import type { LedgerUse } from '../../src/ledger/engine/engine.ts';
import type { Sql } from '../../src/ledger/engine/rows.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { NewBar } from '../../src/ledger/prices/bars.ts';
import { importName, noteRevision } from '../../src/ledger/prices/imports.ts';
import { readHolders } from '../../src/ledger/quota/holders.ts';
import type { SyncRequest } from '../../src/ledger/quota/model.ts';
import { periodOf } from '../../src/ledger/quota/period.ts';
import { ticksSince } from '../../src/ledger/ticks/day-ticks.ts';
import { utcDay } from '../../src/market/day.ts';
import { fixedClock, flat, NOW } from '../support/ledgers.ts';
import { newDatabase } from '../support/postgres.ts';
import { eventually } from '../support/program.ts';

setDefaultTimeout(180_000);

const ACCOUNTS = 10_000;
/** More often than PostgreSQL plans a prepared statement again. */
const REPEATS = 12;

let url: string;
let sql: SQL;
beforeAll(async () => {
  url = await newDatabase();
  await (await Ledger.open(url, fixedClock)).close();
  sql = new SQL({ url, max: 1 });
  await disableAutovacuum();
});
afterAll(() => sql.close());

test('on PostgreSQL, statements that were planned for empty tables find ten thousand customers by an index', async () => {
  await withLedger(async (ledger) => {
    await findFew(ledger, 1);
    await sql`INSERT INTO account (id, name, plan, status, created_at, revision)
      SELECT 'acc_' || i, 'A', 'pro', 'active', 0, 0 FROM generate_series(1, ${ACCOUNTS}) i`;
    await sql`INSERT INTO api_key (hash, id, account_id, created_at, header_only, revision)
      SELECT 'hash_' || i, 'key_' || i, 'acc_' || i, 0, 0, 0 FROM generate_series(1, ${ACCOUNTS}) i`;
    const all = Array.from({ length: ACCOUNTS }, (_, i) => i + 1);
    for (let from = 0; from < ACCOUNTS; from += 1_000) {
      const some = all.slice(from, from + 1_000);
      await ledger.quota.sync(await Promise.all(some.map((i) => syncRequest(ledger, i, 2))));
    }
    await findFew(ledger, 3);
    expect((await ledger.accounts.byKeyHashes(['hash_1', 'hash_9999'])).size).toBe(2);
  });
  expect(await rowsScanned()).toMatchObject({ account: 0, api_key: 0, quota_lease: 0, quota_period: 0 });
});

test('on PostgreSQL, a page of accounts is read without the others', async () => {
  const before = await rowsRead('account');
  await withLedger(async (ledger) => {
    for (let i = 0; i < REPEATS; i++) expect(await ledger.accounts.list('', 50)).toHaveLength(50);
  });
  expect((await rowsRead('account')) - before).toBeLessThan(REPEATS * 60);
});

test('on PostgreSQL, old uses of keys are found without reading the others', async () => {
  const today = utcDay(NOW);
  await sql`INSERT INTO key_use (account_id, key_id, day, endpoint, count, last_at)
    SELECT 'acc_' || i, 'key_' || i, ${today} - d, 'latest', 1, 0 FROM generate_series(1, 1000) i, generate_series(1, 30) d`;
  const before = await blocksRead('key_use');
  await withLedger(async (ledger) => void (await ledger.retention.apply(NOW)));
  expect((await blocksRead('key_use')) - before).toBeLessThan(20);
});

test('on PostgreSQL, held ticks are listed, and those that nobody confirmed are found, without reading those that were decided', async () => {
  await sql`INSERT INTO quarantine_tick (id, symbol_id, source_id, tick_id, at, received, price, reason, state, decided_at)
    SELECT i, 1, 1, 'tick ' || i, ${NOW}, ${NOW}, 1, 'far', CASE WHEN i > 30000 THEN 'held' ELSE 'dropped' END, ${NOW}
    FROM generate_series(1, 30005) i`;
  const before = await rowsRead('quarantine_tick');
  await withLedger(async (ledger) => {
    for (let i = 0; i < REPEATS; i++) {
      expect(await ledger.quarantine.list({ all: false, limit: 1_000 })).toHaveLength(5);
      expect(await ledger.quarantine.expire(NOW)).toBe(0);
    }
    expect(await ledger.quarantine.expire(NOW + 3_600_000)).toBe(5);
  });
  expect((await rowsRead('quarantine_tick')) - before).toBeLessThan(REPEATS * 20);
});

test('on PostgreSQL, the replicas with open leases are listed without a lookup for each lease', async () => {
  await sql`INSERT INTO quota_holder (replica, expires_at) VALUES ('two', 1)`;
  await sql`INSERT INTO quota_lease
      (lease_id, account_id, period, replica, granted, spent, spent_by, seq, barrier_ack, open, expires_at)
    SELECT 'open_' || i || '_' || m, 'acc_' || i, 202600 + m, 'two', 5, 2, '{}', 1, 0, 1, 0
    FROM generate_series(1, 3000) i, generate_series(1, 2) m`;
  const before = await rowsRead('quota_holder');
  await withLedger(async (ledger) => {
    expect(await readHolders(ledger.engine)).toMatchObject([
      { replica: 'two', accounts: 3_000, units: 18_000 },
    ]);
  });
  expect((await rowsRead('quota_holder')) - before).toBeLessThan(10);
});

test('on PostgreSQL, the first day of a long history, or that a demo has none, is found without reading the others, before any ANALYZE', async () => {
  await sql`INSERT INTO bar (symbol_id, source_id, day, open, high, low, close, withdrawn, recorded_at, revision)
    SELECT s, 1, 10000 + d, 1, 1, 1, 1, 0, 0, 1 FROM generate_series(1, 20) s, generate_series(1, 3000) d`;
  const before = await rowsRead('bar');
  await withLedger(async (ledger) => {
    for (let i = 1; i <= 20; i++) {
      expect(await ledger.bars.firstDay(i, 'simulated')).toBe(10_001);
      expect(await ledger.bars.firstDay(i, 'real')).toBeUndefined();
    }
  });
  // With each of them, the first of the recent days is found.
  expect((await rowsRead('bar')) - before).toBeLessThan(20 * 50);
});

test('on PostgreSQL, the first and last day of a long history at a moment are found without reading the others, before any ANALYZE', async () => {
  await sql`INSERT INTO bar_change (revision, symbol_id, first_day, last_day, recorded_at)
    SELECT 1, s, 10001, 13000, 0 FROM generate_series(1, 20) s`;
  const before = await rowsRead('bar');
  const reader = await Ledger.openForReading(url, fixedClock);
  const all = Array.from({ length: 20 }, (_, i) => ({ symbolId: i + 1, lastEnded: FIRST_DAY }));
  const found = await reader.past.dayRanges(all, 'simulated', { ended: LATER, running: LATER });
  expect(found).toEqual(new Map(all.map(({ symbolId }) => [symbolId, { first: 10_001, last: 13_000 }])));
  await reader.close();
  expect((await rowsRead('bar')) - before).toBeLessThan(20 * 50);
});

test('on PostgreSQL, the days that have ticks are found without reading the ticks, by plans for an empty table too', async () => {
  const before = await rowsRead('tick');
  await withLedger(async (ledger) => {
    const reader = await Ledger.openForReading(url, fixedClock);
    for (let i = 0; i < REPEATS; i++) {
      await ledger.ticks.days(1, 'real');
      await tickDays(reader, 1);
      await foldFirstDay(reader);
    }
    await insertTicks();
    for (let i = 1; i <= SYMBOLS; i++) {
      expect(await ledger.ticks.days(i, 'real')).toHaveLength(DAYS);
      expect(await tickDays(reader, i)).toHaveLength(DAYS);
    }
    expect(await foldFirstDay(reader)).toHaveLength(FOLDED_SYMBOLS);
    await reader.close();
    const exporter = await Ledger.open(url, fixedClock, 'working');
    const all = Array.from({ length: SYMBOLS }, (_, i) => i + 1);
    expect(await tickDays(exporter, ...all)).toHaveLength(SYMBOLS * DAYS);
    await exporter.close();
  });
  const [found, folded] = [SYMBOLS * DAYS * 15, FOLDED_SYMBOLS * (TICKS_PER_DAY + 10)];
  expect((await rowsRead('tick')) - before).toBeLessThan(found + folded);
});

test('on PostgreSQL, the held bars of a published day are found without reading those of others', async () => {
  await sql`INSERT INTO source (id, name) VALUES (2, 'desk')`;
  await sql`INSERT INTO quarantine_bar (id, symbol_id, source_id, day, open, high, low, close, received, reason, origin, state)
    SELECT d, 1, 2, d, 1, 1, 1, 1, 0, 'far', 'push', 'held' FROM generate_series(10001, 15000) d`;
  const before = await rowsRead('quarantine_bar');
  const bar = { symbolId: 1, day: 12_000, open: 2, high: 2, low: 2, close: 2 };
  await withLedger(async (ledger) => {
    await ledger.bars.publish([bar], { source: 'desk', recordedAt: 5 });
    await ledger.heldBars.settle([bar], 'desk', 5);
  });
  expect((await rowsRead('quarantine_bar')) - before).toBeLessThan(10);
  const decided = await sql`SELECT day, state FROM quarantine_bar WHERE state <> 'held'`;
  expect([...decided]).toEqual([{ day: bar.day, state: 'dropped' }]);
});

test('on PostgreSQL, an undo finds the days of a long import by an index, by plans for an almost empty table too', async () => {
  await sql`DELETE FROM bar`;
  await sql`VACUUM ANALYZE bar`;
  const days = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({ symbolId: 3, day: from + i, ...flat(1) }));
  const undoImportOf = async (ledger: Ledger, bars: NewBar[]) => {
    const run = await ledger.imports.begin('prices.csv', 'file', NOW);
    const after = (tx: Sql, revision: number) => noteRevision(tx, importName(run), revision);
    await ledger.bars.publish(bars, { source: 'file', recordedAt: NOW, after });
    await ledger.imports.undo(run, NOW, () => {});
  };
  const before = await rowsRead('bar');
  await withLedger(async (ledger) => {
    for (let i = 0; i < REPEATS; i++) await undoImportOf(ledger, days(i, 1));
    await undoImportOf(ledger, days(10_000, 5_000));
  }, 'working');
  expect((await rowsRead('bar')) - before).toBeLessThan(100_000);
});

test('on PostgreSQL, a statement starts no worker processes, however cheap the planner assumes them to be', async () => {
  const [{ name }] = await sql`SELECT current_database() AS name`;
  for (const cost of ['parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_index_scan_size'])
    await sql.unsafe(`ALTER DATABASE ${name} SET ${cost} = 0`);
  const before = await workersStarted();
  await withLedger(async (ledger) => {
    const of = { symbolId: 1, origin: 'real', day: FIRST_DAY } as const;
    for (let i = 0; i < REPEATS; i++) {
      expect(await ticksSince(ledger.engine, ledger.engine.read, of, 1)).toEqual([]);
    }
  });
  expect((await workersStarted()) - before).toBe(0);
});

/** Its reads would count as those of the ledger. */
async function disableAutovacuum(): Promise<void> {
  for (const { name } of await sql`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`)
    await sql.unsafe(`ALTER TABLE ${name} SET (autovacuum_enabled = false)`);
}

const SYMBOLS = 20;
const DAYS = 5;
const FIRST_DAY = 20_000;
const TICKS_PER_DAY = 1_000;
const FOLDED_SYMBOLS = 5;
/** After all ticks. */
const LATER = (FIRST_DAY + DAYS) * 86_400_000;

/** The days of symbols that have ticks, as a point-in-time request or an export finds them. */
function tickDays(reader: Ledger, ...symbolIds: number[]): Promise<unknown[]> {
  const symbols = symbolIds.map((symbolId) => ({ symbolId, lastEnded: FIRST_DAY }));
  return reader.past.tickDays(symbols, 'real', { ended: LATER, running: LATER }, LATER);
}

/** The bars of some symbols, as a point-in-time request folds them from their ticks. */
function foldFirstDay(reader: Ledger): Promise<unknown[]> {
  const days = Array.from({ length: FOLDED_SYMBOLS }, (_, i) => ({
    symbolId: i + 1,
    day: FIRST_DAY,
    after: 0,
  }));
  return reader.past.foldTicks(days, 'real', LATER);
}

async function insertTicks(): Promise<void> {
  await sql`INSERT INTO tick (symbol_id, source_id, tick_id, day, at, received, price, revision)
    SELECT s, 2, 'tick_' || d || '_' || i, d, d * CAST(86400000 AS BIGINT) + i, d * CAST(86400000 AS BIGINT) + i, 1, 1
    FROM generate_series(1, ${SYMBOLS}) s, generate_series(${FIRST_DAY}, ${FIRST_DAY + DAYS - 1}) d,
      generate_series(1, ${TICKS_PER_DAY}) i`;
}

/** How many processes PostgreSQL wanted to start for parts of a statement. */
async function workersStarted(): Promise<number> {
  await quiet();
  const [row] = await sql`SELECT parallel_workers_to_launch AS n FROM pg_stat_database
    WHERE datname = current_database()`;
  return Number(row.n);
}

/** How many blocks of a table and its indexes were read so far. */
async function blocksRead(table: string): Promise<number> {
  await quiet();
  const [row] = await sql`SELECT heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read AS n
    FROM pg_statio_user_tables WHERE relname = ${table}`;
  return Number(row.n);
}

/** How many rows of a table were read so far, by any means. */
async function rowsRead(table: string): Promise<number> {
  await quiet();
  const [row] = await sql`SELECT seq_tup_read + idx_tup_fetch AS n FROM pg_stat_user_tables
    WHERE relname = ${table}`;
  return Number(row.n);
}

async function withLedger(
  work: (ledger: Ledger) => Promise<void>,
  use: LedgerUse = 'serving',
): Promise<void> {
  const ledger = await Ledger.open(url, fixedClock, use);
  await work(ledger);
  await ledger.close();
}

async function syncRequest(ledger: Ledger, number: number, seq: number): Promise<SyncRequest> {
  return {
    leaseId: `lease_${number}`,
    accountId: `acc_${number}`,
    period: periodOf(await ledger.quota.now()),
    replica: 'one',
    spentBy: { latest: seq },
    seq,
    want: 100,
    need: 100,
    least: 100,
    barrierSeen: 0,
    close: false,
  };
}

async function findFew(ledger: Ledger, seq: number): Promise<void> {
  for (let i = 1; i <= REPEATS; i++) {
    await ledger.accounts.byKeyHashes(['hash_5', `hash_${i * 700}`]);
    await ledger.quota.sync([await syncRequest(ledger, i * 700, seq)]);
  }
}

/** How many rows of each table were read by scanning the whole table. */
async function rowsScanned(): Promise<Record<string, number>> {
  await quiet();
  const rows: { relname: string; n: string }[] =
    await sql`SELECT relname, seq_tup_read AS n FROM pg_stat_user_tables`;
  return Object.fromEntries(rows.map(({ relname, n }) => [relname, Number(n)]));
}

/**
 * Waits until the connections of the ledger have ended: PostgreSQL then knows what they have read. What this
 * connection has read or written, it would otherwise learn up to ten seconds later.
 */
async function quiet(): Promise<void> {
  await sql`SELECT pg_stat_force_next_flush()`;
  await eventually(async () => {
    const [others] = await sql`SELECT count(*) AS n FROM pg_stat_activity
      WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`;
    return Number(others.n) === 0;
  });
  await sql`SELECT pg_stat_clear_snapshot()`;
}
