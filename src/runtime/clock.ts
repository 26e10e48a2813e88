/** Time is injected, so that tests can control it. */
export interface Clock {
  /** The wall clock, which may be set: milliseconds since the UNIX epoch. */
  now(): number;
  /** A monotonic clock: milliseconds since some moment. Without it, `now` must be monotonic. */
  elapsed?(): number;
}

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };

/** The time by its monotonic clock, in ms. */
export function elapsedMs(clock: Clock): number {
  return clock.elapsed?.() ?? clock.now();
}
