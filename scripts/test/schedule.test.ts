import { expect, test } from 'bun:test';
import type { Job } from './plan.ts';
import { runScheduled } from './schedule.ts';

const job = (name: string, seconds: number, cpuSeconds: number): Job => ({
  files: [name],
  settings: {},
  seconds,
  cpuSeconds,
  isAlone: false,
});

/** Runs jobs that end when `end` is called with their name. */
function schedule(jobs: readonly Job[], capacity: { cores: number; jobsMax: number }) {
  const started = new Map<string, () => void>();
  const done = runScheduled(jobs, capacity, ({ files: [name] }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    started.set(name!, resolve);
    return promise;
  });
  return {
    done,
    started: () => [...started.keys()],
    async end(name: string) {
      started.get(name)!();
      await Bun.sleep(0); // the next jobs start
    },
  };
}

test('jobs that compute share the cores, and the next one starts when one has ended', async () => {
  const jobs = ['a', 'b', 'c'].map((name) => job(name, 10, 10));
  const run = schedule(jobs, { cores: 2, jobsMax: 6 });
  expect(run.started()).toEqual(['a', 'b']);
  await run.end('a');
  expect(run.started()).toEqual(['a', 'b', 'c']);
  await Promise.all([run.end('b'), run.end('c'), run.done]);
});

test('jobs that wait leave their cores to others, up to the limit', async () => {
  const jobs = [job('a', 10, 1), job('b', 10, 10), job('c', 10, 1), job('d', 10, 1), job('e', 10, 1)];
  const run = schedule(jobs, { cores: 2, jobsMax: 4 });
  expect(run.started()).toEqual(['a', 'b', 'c', 'd']);
  await run.end('b');
  expect(run.started()).toEqual(['a', 'b', 'c', 'd', 'e']);
  await Promise.all([run.end('a'), run.end('c'), run.end('d'), run.end('e'), run.done]);
});
