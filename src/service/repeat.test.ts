import { expect, test } from 'bun:test';
import { repeatEvery } from './repeat.ts';

const NEVER_MS = 1_000_000;

test('a job that is stopped completes the run in progress and does not run again', async () => {
  let runs = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const job = repeatEvery(NEVER_MS, () => {
    runs++;
    return promise;
  });
  const first = job.runNow();
  await Promise.resolve();
  const stopped = job.stop();
  const during = job.runNow();
  resolve();
  await Promise.all([first, stopped, during, job.runNow()]);
  expect(runs).toBe(1);
});

test('a run that was requested before the stop completes', async () => {
  let runs = 0;
  const job = repeatEvery(NEVER_MS, async () => void runs++);
  void job.runNow();
  await job.stop();
  expect(runs).toBe(1);
});
