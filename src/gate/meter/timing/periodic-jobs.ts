import type { Scheduler } from '../../../runtime/scheduler.ts';

/** Holders look for barriers and recalls this often; an exact `/usage` waits for three rounds. */
const SIGNALS_MS = 100;
const REPORT_MS = 100;
const RENEW_MS = 1_000;
const SWEEP_MS = 60_000;

/** A connection may hang forever: after this time the next run starts anyway. */
const TIMEOUT_MS = 2_000;

export interface MeterJobs {
  readSignals(): Promise<void>;
  report(): Promise<void>;
  renew(): Promise<void>;
  sweep(): Promise<void>;
}

/** Runs the meter's jobs at their intervals. A job that is still running is not started again until its timeout. */
export class PeriodicJobs {
  readonly #scheduler: Scheduler;
  readonly #warn: (text: string) => void;
  readonly #jobs: MeterJobs;
  /** The timer of each job, by its index. */
  readonly #cancel: (() => void)[] = [];
  #isStopped = false;

  constructor(scheduler: Scheduler, warn: (text: string) => void, jobs: MeterJobs) {
    this.#scheduler = scheduler;
    this.#warn = warn;
    this.#jobs = jobs;
  }

  start(): void {
    this.#every(0, SIGNALS_MS, () => this.#jobs.readSignals());
    this.#every(1, REPORT_MS, () => this.#jobs.report());
    this.#every(2, RENEW_MS, () => this.#jobs.renew());
    this.#every(3, SWEEP_MS, () => this.#jobs.sweep());
  }

  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#cancel) cancel();
  }

  #every(index: number, ms: number, job: () => Promise<void>): void {
    this.#cancel[index] = this.#scheduler.after(ms, () => {
      let isOver = false;
      const scheduleNext = () => {
        if (isOver) return;
        isOver = true;
        cancelTimeout();
        if (!this.#isStopped) this.#every(index, ms, job);
      };
      const cancelTimeout = this.#scheduler.after(TIMEOUT_MS, scheduleNext);
      job()
        .catch((error) => this.#warn(`a periodic job of the meter failed and is retried: ${error}`))
        .finally(scheduleNext);
    });
  }
}
