import { yieldToRequests } from './yield.ts';

/** Timers are injected, like the clock, so that a simulator can run a month in a second. */
export interface Scheduler {
  /** Calls back once, after `ms` milliseconds. Returns a function that cancels the timer. */
  after(ms: number, callback: () => void): () => void;
  /** Resolves in a later turn of the event loop, after requests have been handled. A simulator handles none meanwhile. */
  yieldToRequests?(): Promise<void>;
}

export const systemScheduler: Scheduler = {
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  yieldToRequests,
};

/** Settles like `call`, or rejects after `ms` milliseconds: a connection to the ledger may hang forever. */
export function withTimeout<T>(scheduler: Scheduler, ms: number, call: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = scheduler.after(ms, () =>
      reject(new Error(`the ledger has not answered within ${ms} ms`)),
    );
    call.then(resolve, reject).finally(cancel);
  });
}
