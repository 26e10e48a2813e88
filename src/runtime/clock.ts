/** Time is passed in, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the UNIX epoch: the wall clock, which may be set. */
  now(): number;
  /** Milliseconds since some moment, which nobody can set. Without it, `now` is taken to be never set. */
  elapsed?(): number;
}

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };
