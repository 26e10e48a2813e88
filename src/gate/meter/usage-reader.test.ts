import { expect, test } from 'bun:test';
import { periodOf } from '../../ledger/quota/period.ts';
import { UsageReader } from './usage-reader.ts';

const PERIOD = periodOf(Date.UTC(2024, 4, 15));

/** Reads the usage while another replica reports its counts after `reportMs`, and each query takes `queryMs`. */
async function readWhile({ reportMs, queryMs = 0 }: { reportMs: number; queryMs?: number }) {
  let time = 0;
  const queriedAt: number[] = [];
  const reader = new UsageReader({
    calls: {
      raiseBarrier: async () => 1,
      usageWithoutLease: async () => ({ usedBeside: 0, quota: 1_000, asOf: 0, otherLeases: 1 }),
      usage: async () => {
        queriedAt.push(time);
        const behind = time >= reportMs ? 0 : 1;
        time += queryMs;
        return { used: 7, quota: 1_000, asOf: time, behind };
      },
    },
    scheduler: {
      after(ms, callback) {
        if (ms < 300) {
          time += ms;
          callback();
        }
        return () => {};
      },
    },
    time: { read: () => ({ wall: time, mono: time }), period: () => PERIOD },
    holder: { replica: 'here' },
    accounts: { get: () => undefined },
    adoptions: { hasten: () => undefined },
  });
  const { exact } = await reader.read('ant');
  return { exact, queriedAt, ms: time };
}

test('a read asks less often the longer it waits', async () => {
  const { queriedAt, exact } = await readWhile({ reportMs: 105 });
  expect(queriedAt).toEqual([0, 10, 30, 70, 110]);
  expect(exact).toBe(true);
});

test('a report up to 290 ms later is found within 300 ms, at most 40 ms after it', async () => {
  for (let reportMs = 0; reportMs <= 290; reportMs++) {
    const { exact, ms } = await readWhile({ reportMs });
    expect(exact, `${reportMs}`).toBe(true);
    expect(ms - reportMs, `${reportMs}`).toBeLessThanOrEqual(40);
    expect(ms, `${reportMs}`).toBeLessThanOrEqual(290);
  }
});

test('a replica that never reports costs ten queries, the last one just before the time is up', async () => {
  const { exact, queriedAt } = await readWhile({ reportMs: Number.POSITIVE_INFINITY });
  expect(exact).toBe(false);
  expect(queriedAt).toHaveLength(10);
  expect(queriedAt.at(-1)).toBe(290);
});

test('slow queries do not extend the wait', async () => {
  const { exact, ms } = await readWhile({ reportMs: Number.POSITIVE_INFINITY, queryMs: 7.3 });
  expect(exact).toBe(false);
  expect(ms).toBeLessThan(300);
});
