import type { Clock } from '../../runtime/clock.ts';
import type { Surroundings } from './http-client.ts';

/** The real world. */
export function realSurroundings(clock: Clock): Surroundings {
  return { now: () => clock.now(), random: Math.random, sleep: sleepUntil };
}

/** Ends early when the signal says so. */
export function sleepUntil(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
