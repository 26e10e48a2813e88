import type { Clock } from '../../runtime/clock.ts';

/** What a run takes from outside. Tests inject their own clock, randomness and sleep. */
export interface Runtime {
  now(): number;
  /** In [0, 1). */
  random(): number;
  /** Resolves early when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export function systemRuntime(clock: Clock): Runtime {
  return { now: () => clock.now(), random: Math.random, sleep };
}

/** Resolves early when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
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
