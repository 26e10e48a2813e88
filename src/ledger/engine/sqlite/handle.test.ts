import { afterEach, expect, test } from 'bun:test';
import { SqliteHandle } from './handle.ts';

let handle: SqliteHandle;
afterEach(() => handle.close());

/** Adds rows one by one. Returns how often the event loop turned meanwhile. */
async function turnsFor(rows: number, msPerTurn?: number): Promise<number> {
  handle = new SqliteHandle(':memory:', { msPerTurn });
  await handle.sql.unsafe('CREATE TABLE number (n INTEGER)');
  let [turns, isDone] = [0, false];
  const turn = () => {
    turns++;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const values = Array.from({ length: rows }, (_, n) => [n]);
  await handle.forRows({ n: 'BIGINT' }, values, ({ cell }) => `INSERT INTO number VALUES (${cell('n')})`);
  isDone = true;
  const [found] = await handle.sql.unsafe('SELECT count(*) AS n, sum(n) AS sum FROM number');
  expect(found).toEqual({ n: rows, sum: (rows * (rows - 1)) / 2 });
  return turns;
}

test('a statement for many rows lets the event loop turn whenever its time is up', async () => {
  expect(await turnsFor(50, 0)).toBeGreaterThanOrEqual(49);
});

test('it does not let the event loop turn while it has time, however many rows there are', async () => {
  expect(await turnsFor(5_000, 60_000)).toBe(0);
});
