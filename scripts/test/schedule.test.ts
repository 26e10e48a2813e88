import { expect, test } from 'bun:test';
import type { Job } from './plan.ts';
import { hasSpareTime, runScheduled } from './schedule.ts';

const JOBS = ['a', 'b', 'c', 'd', 'e'].map(
  (name): Job => ({ files: [name], settings: {}, seconds: 1, isAlone: false }),
);

/** Runs the jobs; each ends when `end` is called with its name, and the cores have spare time when `observe` says so. */
function schedule(jobsMin: number, jobsMax: number) {
  const started = new Map<string, () => void>();
  let answer = Promise.withResolvers<boolean>();
  const capacity = { jobsMin, jobsMax, hasSpareTime: () => answer.promise };
  const done = runScheduled(JOBS, capacity, ({ files: [name] }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    started.set(name!, resolve);
    return promise;
  });
  return {
    done,
    started: () => [...started.keys()].join(''),
    async observe(spare: boolean) {
      const { resolve } = answer;
      answer = Promise.withResolvers();
      resolve(spare);
      await Bun.sleep(0); // the next job starts
    },
    async end(name: string) {
      started.get(name)!();
      await Bun.sleep(0);
    },
  };
}

test('another job starts when the cores have spare time, and not before', async () => {
  const run = schedule(2, 4);
  expect(run.started()).toBe('ab');
  await run.observe(false);
  expect(run.started()).toBe('ab');
  await run.observe(true);
  expect(run.started()).toBe('abc');
});

test('with all jobs running that are allowed, the next one starts when one has ended', async () => {
  const run = schedule(1, 2);
  await run.observe(true);
  expect(run.started()).toBe('ab');
  await run.observe(true);
  expect(run.started()).toBe('ab');
  await run.end('a');
  await run.observe(true);
  expect(run.started()).toBe('abc');
});

test('the run is over when the last job has ended', async () => {
  const run = schedule(5, 5);
  expect(run.started()).toBe('abcde');
  let isOver = false;
  void run.done.then(() => {
    isOver = true;
  });
  for (const name of 'abcd') await run.end(name);
  expect(isOver).toBe(false);
  await run.end('e');
  await run.done;
});

test('the spare time of this machine can be read', async () => {
  expect(await hasSpareTime()).toBeBoolean();
});
