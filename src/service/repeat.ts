/** A job that repeats and never overlaps itself. */
export interface RepeatingJob {
  /** Runs the job once more, after a run in progress. Calls that wait for the same run share it. */
  runNow(): Promise<void>;
  /** Waits for the run in progress. */
  stop(): Promise<void>;
}

export function repeatEvery(everyMs: number, job: () => Promise<void>): RepeatingJob {
  let running: Promise<void> = Promise.resolve();
  let queued: Promise<void> | undefined;
  const runNow = () => {
    queued ??= running.then(() => {
      queued = undefined;
      running = job();
      return running;
    });
    return queued;
  };
  const timer = setInterval(runNow, everyMs);
  return {
    runNow,
    async stop() {
      clearInterval(timer);
      await queued;
      await running;
    },
  };
}
