import type { Job } from './plan.ts';

/** What the machine can run at the same time. */
export interface Capacity {
  cores: number;
  /** However little the jobs compute: each has a process, and most have a database or a browser. */
  jobsMax: number;
}

/**
 * Runs jobs in their order. The next one starts as soon as the running ones leave part of a core unused, by what they used in an
 * earlier run, so that jobs that wait run beside jobs that compute.
 */
export async function runScheduled(
  jobs: readonly Job[],
  { cores, jobsMax }: Capacity,
  run: (job: Job) => Promise<void>,
): Promise<void> {
  const waiting = [...jobs];
  const running = new Map<Job, Promise<void>>();
  const hasRoom = () => running.size < jobsMax && coresUsedBy(running.keys()) < cores;
  while (waiting.length > 0) {
    while (waiting.length > 0 && hasRoom()) {
      const job = waiting.shift()!;
      running.set(
        job,
        run(job).finally(() => running.delete(job)),
      );
    }
    await Promise.race(running.values());
  }
  await Promise.all(running.values());
}

/** On average. A job that computes all the time has less than one core, too, for it was measured beside others. */
function coresUsedBy(jobs: Iterable<Job>): number {
  let sum = 0;
  for (const { seconds, cpuSeconds } of jobs) sum += cpuSeconds / seconds;
  return sum;
}
