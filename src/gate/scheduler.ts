/** Timers are passed in as the clock is, so that a simulator can run a month in a second. */
export interface Scheduler {
  /** Calls back once, after so many milliseconds. Gives a function that calls it off. */
  after(ms: number, call: () => void): () => void;
}

export const systemScheduler: Scheduler = {
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
