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

/** What the call says, or an error when it has said nothing after so many milliseconds: a connection may hang for good. */
export function inTime<T>(scheduler: Scheduler, ms: number, call: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const callOff = scheduler.after(ms, () =>
      reject(new Error(`the ledger has not answered within ${ms} ms`)),
    );
    call.then(resolve, reject).finally(callOff);
  });
}
