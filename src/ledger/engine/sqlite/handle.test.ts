import { afterEach, expect, test } from 'bun:test';
import { SqliteHandle } from './handle.ts';

let handle: SqliteHandle;
afterEach(() => handle.close());

/**
 * Adds rows by two statements. Returns how often the event loop turned meanwhile. Each look at the clock takes a millisecond,
 * and each turn as long as requests need.
 */
async function turnsFor(rows: number, msPerTurn?: number, requestsMs = 0): Promise<number> {
  let now = 0;
  handle = new SqliteHandle(':memory:', { msPerTurn, now: () => now++ });
  await handle.sql.unsafe('CREATE TABLE number (n INTEGER)');
  let [turns, isDone] = [0, false];
  const turn = () => {
    turns++;
    now += requestsMs;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const values = Array.from({ length: rows }, (_, n) => [n]);
  for (const part of [values.slice(0, rows / 2), values.slice(rows / 2)])
    await handle.forRows({ n: 'BIGINT' }, part, ({ cell }) => `INSERT INTO number VALUES (${cell('n')})`);
  isDone = true;
  const [found] = await handle.sql.unsafe('SELECT count(*) AS n, sum(n) AS sum FROM number');
  expect(found).toEqual({ n: rows, sum: (rows * (rows - 1)) / 2 });
  return turns;
}

test('a statement for many rows lets the event loop turn whenever its time is up', async () => {
  expect(await turnsFor(50, 0.5)).toBeGreaterThanOrEqual(24);
});

test('it does not let the event loop turn while it has time, however many rows there are', async () => {
  expect(await turnsFor(5_000, 60_000)).toBe(0);
});

test('statements in the same turn share its time', async () => {
  expect(await turnsFor(60, 40)).toBe(1);
});

test('a statement that has waited long for its turn has more time in it, up to a limit', async () => {
  expect(await turnsFor(100, 0.5, 80)).toBeLessThan(15);
  expect(await turnsFor(300, 0.5, 10_000)).toBeGreaterThan(10);
});

test('a statement in a later turn has time of its own', async () => {
  expect(await turnsFor(20, 15)).toBe(1);
  for (let i = 0; i < 9; i++) await new Promise((resolve) => setImmediate(resolve));
  let isTurned = false;
  setImmediate(() => (isTurned = true));
  const insert = handle.forRows(
    { n: 'BIGINT' },
    Array.from({ length: 10 }, (_, n) => [n]),
    ({ cell }) => `INSERT INTO number VALUES (${cell('n')})`,
  );
  await insert;
  expect(isTurned).toBe(false);
});
