import { isCorrupt } from '../ledger/engine/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/log/log.ts';
import type { OngoingFault } from './work-monitor.ts';

/** A check reads the whole ledger, so the pause doubles after each one that finds damage. */
const RECHECK_MS = 5_000;
const RECHECK_MS_MAX = 600_000;

/**
 * Knows whether the ledger is damaged, that is, whether a statement has met a corrupt page. The damage ends when a check
 * of the whole ledger finds none, for example after a page was restored.
 */
export class DamageMonitor {
  readonly #clock: Clock;
  readonly #isSound: () => Promise<boolean>;
  #damage: OngoingFault | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(clock: Clock, isSound: () => Promise<boolean>) {
    this.#clock = clock;
    this.#isSound = isSound;
  }

  get damage(): OngoingFault | undefined {
    return this.#damage;
  }

  /** Inspects the error of a failed statement, whatever it is. */
  observe(error: unknown): void {
    if (this.#damage || this.#isStopped || !isCorrupt(error)) return;
    this.#damage = { since: this.#clock.now(), reason: messageOf(error) };
    this.#checkIn(RECHECK_MS);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #checkIn(ms: number): void {
    this.#timer = setTimeout(() => void this.#check(ms), ms);
    this.#timer.unref();
  }

  async #check(pauseMs: number): Promise<void> {
    if (await this.#isSound().catch(() => false)) this.#damage = undefined;
    else if (!this.#isStopped) this.#checkIn(Math.min(pauseMs * 2, RECHECK_MS_MAX));
  }
}
