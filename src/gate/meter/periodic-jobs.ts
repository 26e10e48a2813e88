import type { Scheduler } from './scheduler.ts';

/** Holders look for barriers and recalls this often; an exact /usage waits three of them. */
const LISTEN_MS = 100;
const FLUSH_MS = 1_000;
const SWEEP_MS = 60_000;

/** A connection may hang for good: after this the duty is done anew. */
const PATIENCE_MS = 2_000;

export interface MeterJobs {
  listen(): Promise<void>;
  flush(): void;
  sweep(): Promise<void>;
}

/** Does what a replica does by the clock. A duty that is at work is not started a second time. */
export class PeriodicJobs {
  readonly #scheduler: Scheduler;
  readonly #warn: (text: string) => void;
  readonly #duties: MeterJobs;
  readonly #callOff: (() => void)[] = [];
  #isStopped = false;

  constructor(scheduler: Scheduler, warn: (text: string) => void, duties: MeterJobs) {
    this.#scheduler = scheduler;
    this.#warn = warn;
    this.#duties = duties;
  }

  start(): void {
    this.#every(0, LISTEN_MS, () => this.#duties.listen());
    this.#every(1, FLUSH_MS, async () => this.#duties.flush());
    this.#every(2, SWEEP_MS, () => this.#duties.sweep());
  }

  stop(): void {
    this.#isStopped = true;
    for (const callOff of this.#callOff) callOff();
  }

  #every(duty: number, ms: number, work: () => Promise<void>): void {
    this.#callOff[duty] = this.#scheduler.after(ms, () => {
      let isOver = false;
      const again = () => {
        if (isOver) return;
        isOver = true;
        giveUp();
        if (!this.#isStopped) this.#every(duty, ms, work);
      };
      const giveUp = this.#scheduler.after(PATIENCE_MS, again);
      work()
        .catch((error) => this.#warn(`the meter could not do its round and will try again: ${error}`))
        .finally(again);
    });
  }
}
