import { cpus } from 'node:os';
import type { Job } from './plan.ts';

/** What the machine can run at the same time. */
export interface Capacity {
  /** Jobs that start in any case. */
  jobsMin: number;
  /** However little the jobs compute: each has a process, and most have a database or a browser. */
  jobsMax: number;
  /** Resolves after a moment with whether the cores had spare time meanwhile. */
  hasSpareTime(): Promise<boolean>;
}

/** Runs jobs in their order. Another one starts while the running ones leave the cores spare time, because they wait. */
export async function runScheduled(
  jobs: readonly Job[],
  { jobsMin, jobsMax, hasSpareTime }: Capacity,
  run: (job: Job) => Promise<void>,
): Promise<void> {
  const waiting = [...jobs];
  const running = new Set<Promise<void>>();
  while (waiting.length > 0) {
    const isRoom = running.size < jobsMin || (running.size < jobsMax && (await hasSpareTime()));
    if (isRoom) {
      const ended = run(waiting.shift()!).finally(() => running.delete(ended));
      running.add(ended);
    } else if (running.size >= jobsMax) await Promise.race(running);
  }
  await Promise.all(running);
}

/** Long enough for a job that has just started to load its files. */
const OBSERVED_MS = 500;
/** Below this share of all cores, another job would only slow down the others. */
const SPARE_SHARE_MIN = 0.1;

export async function hasSpareTime(): Promise<boolean> {
  const before = coreTimes();
  await Bun.sleep(OBSERVED_MS);
  const after = coreTimes();
  return after.idle - before.idle > SPARE_SHARE_MIN * (after.all - before.all);
}

/** Of all cores since the machine was started, in ms. */
function coreTimes(): { idle: number; all: number } {
  let [idle, all] = [0, 0];
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return { idle, all };
}
