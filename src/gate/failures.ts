import type { Clock } from '../clock.ts';
import { limitKey } from './addresses.ts';
import { Window } from './window.ts';

const MINUTE_MS = 60_000;

/** Addresses that are being watched; the longest known are let go of. */
const ADDRESSES_MAX = 100_000;

/** Counts wrong secrets per address. It never judges a right one. */
export class Failures {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #windows = new Map<string, Window>();

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** Whether an address has reached its limit. The address is asked for only when it matters. */
  areTooMany(address: () => string): boolean {
    if (this.#windows.size === 0) return false;
    const window = this.#windows.get(limitKey(address()));
    return window?.isFull(this.#clock.now(), this.#perMinute, MINUTE_MS) ?? false;
  }

  /** Counts one. Returns 0, or how long the address has to wait when it had reached its limit before. */
  add(address: string): number {
    const window = this.#windows.getOrInsertComputed(limitKey(address), () => new Window());
    if (this.#windows.size > ADDRESSES_MAX) this.#windows.delete(this.#windows.keys().next().value!);
    const now = this.#clock.now();
    return window.take(now, this.#perMinute, MINUTE_MS) ? 0 : window.endsIn(now, MINUTE_MS);
  }
}
