/** A job that repeats and never overlaps itself. */
export interface RepeatingJob {
  /** Runs the job once more, after a run in progress. Calls that wait for the same run share it. Does nothing after a stop. */
  runNow(): Promise<void>;
  /** Waits for the run in progress and for one that was requested before. */
  stop(): Promise<void>;
}

export function repeatEvery(everyMs: number, job: () => Promise<void>): RepeatingJob {
  let running: Promise<void> = Promise.resolve();
  let queued: Promise<void> | undefined;
  let isStopped = false;
  const runNow = () => {
    if (isStopped) return Promise.resolve(); // what the job uses may be closed
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
      isStopped = true;
      clearInterval(timer);
      await queued;
      await running;
    },
  };
}
