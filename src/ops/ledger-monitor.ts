import { type Clock, elapsedMs } from '../runtime/clock.ts';
import { codeOf, messageOf } from '../runtime/log/log.ts';
import { systemScheduler, withTimeout } from '../runtime/scheduler.ts';

export interface Outage {
  /** When the ledger was last reached, in ms since the epoch. */
  since: number;
  reason: string;
  /** The same on every replica, so that a receiver can tell that their alarms are one. */
  number: number;
}

export interface LedgerMonitorOptions {
  /** Reads how many outages the ledger has recorded. Rejects when the ledger does not answer. */
  readOutages(): Promise<number>;
  /** Records that an outage is over. */
  recordOutage(number: number): Promise<void>;
  onRecovered(): void;
  /** Why counts cannot be written, so that requests are refused once their leases are spent; undefined if they can. */
  meterFailure(): string | undefined;
  clock: Clock;
}

const PROBE_MS = 1_000;
/** A connection may hang; a ledger this slow cannot serve requests either. */
const PROBE_MS_MAX = 2_000;
/** One dropped connection is not an outage. With the probe's own times, an outage is noticed after 4 s at most. */
const OUTAGE_AFTER_MS = 2_500;

/** Probes the ledger every second to know whether it can be reached. */
export class LedgerMonitor {
  readonly #options: LedgerMonitorOptions;
  #outages = 0;
  #reachedAt: number;
  #outage: Outage | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #checking: Promise<void> | undefined;
  /** An outage that has ended and is not recorded yet. */
  #unrecorded: number | undefined;
  readonly #onUnreachable: (() => void)[] = [];

  constructor(options: LedgerMonitorOptions) {
    this.#options = options;
    this.#reachedAt = elapsedMs(this.#options.clock);
  }

  /** Undefined while the ledger can be reached. */
  get outage(): Outage | undefined {
    return this.#outage;
  }

  /**
   * Calls back after every failed probe of an outage, unless the ledger still answers reads. For those who wait for a
   * connection that may hang for longer.
   */
  onUnreachable(listener: () => void): void {
    this.#onUnreachable.push(listener);
  }

  start(): void {
    this.#timer = setInterval(() => void this.check(), PROBE_MS);
    void this.check();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Probes now, unless a probe is in progress. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #check(): Promise<void> {
    const failure = await this.#probe();
    if (failure === undefined) this.#recover();
    else this.#fail(failure);
    if (this.#unrecorded !== undefined && failure === undefined) await this.#record(this.#unrecorded);
  }

  /** Why the ledger cannot be used; undefined when it can. */
  async #probe(): Promise<ProbeFailure | undefined> {
    try {
      this.#outages = Math.max(
        this.#outages,
        await withTimeout(systemScheduler, PROBE_MS_MAX, this.#options.readOutages()),
      );
    } catch (error) {
      return { reason: messageOf(error), isReadable: codeOf(error) === 'ERR_UNAVAILABLE' };
    }
    const failure = this.#options.meterFailure();
    return failure === undefined
      ? undefined
      : { reason: `counts cannot be written: ${failure}`, isReadable: true };
  }

  #fail({ reason, isReadable }: ProbeFailure): void {
    const awayMs = elapsedMs(this.#options.clock) - this.#reachedAt;
    if (awayMs < OUTAGE_AFTER_MS) return;
    this.#outage ??= { since: this.#options.clock.now() - awayMs, reason, number: this.#outages + 1 };
    if (!isReadable) for (const listener of this.#onUnreachable) listener();
  }

  #recover(): void {
    this.#reachedAt = elapsedMs(this.#options.clock);
    if (!this.#outage) return;
    this.#unrecorded = this.#outage.number;
    this.#outage = undefined;
    this.#options.onRecovered();
  }

  async #record(number: number): Promise<void> {
    try {
      await withTimeout(systemScheduler, PROBE_MS_MAX, this.#options.recordOutage(number));
      this.#outages = Math.max(this.#outages, number);
      this.#unrecorded = undefined;
    } catch {
      // The next probe tries again.
    }
  }
}

interface ProbeFailure {
  reason: string;
  /** Whether the ledger answers reads, although it accepts no writes. */
  isReadable: boolean;
}
