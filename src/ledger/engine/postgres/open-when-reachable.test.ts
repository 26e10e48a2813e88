import { expect, test } from 'bun:test';
import { openWhenReachable } from './open-when-reachable.ts';

/** A database whose first `failures` attempts to open fail, with its own clock. */
function database(failures: number, error: Error) {
  let now = 0;
  let attempts = 0;
  const reports: number[] = [];
  return {
    reports,
    attempts: () => attempts,
    open: async () => {
      attempts++;
      now += 200; // a refused connection takes a moment
      if (attempts <= failures) throw error;
      return 'open';
    },
    options: {
      waitMs: 60_000,
      elapsed: () => now,
      sleep: async (ms: number) => {
        now += ms;
      },
      onWaiting: (_: string, waitedMs: number) => void reports.push(Math.floor(waitedMs / 5_000)),
    },
  };
}

const refused = Object.assign(new Error('Failed to connect'), { code: 'ERR_POSTGRES_CONNECTION_REFUSED' });
const starting = Object.assign(new Error('the database system is starting up'), {
  code: 'ERR_POSTGRES_SERVER_ERROR',
  errno: '57P03',
});
const wrongPassword = Object.assign(new Error('password authentication failed'), {
  code: 'ERR_POSTGRES_SERVER_ERROR',
  errno: '28P01',
});

test.each([
  ['refuses connections', refused],
  ['is starting up', starting],
])('a database that %s is opened once it is up, with a report every 5 s', async (_, error) => {
  const { open, options, reports } = database(30, error);
  expect(await openWhenReachable(open, options)).toBe('open');
  expect(reports).toEqual([0, 1, 2, 3, 4, 5, 6, 7].slice(0, reports.length));
  expect(reports.length).toBeGreaterThan(6);
});

test('after the wait it gives up and says for how long it tried', async () => {
  const { open, options, reports } = database(1_000, refused);
  await expect(openWhenReachable(open, options)).rejects.toThrow(
    'PostgreSQL could not be reached for 60 s: Failed to connect',
  );
  expect(reports).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

test('an error that waiting cannot fix is thrown at once', async () => {
  const { open, options, attempts } = database(1_000, wrongPassword);
  await expect(openWhenReachable(open, options)).rejects.toThrow('password');
  expect(attempts()).toBe(1);
});
