import type { Clock } from '../clock.ts';
import { limitKey } from './addresses.ts';
import { Window } from './window.ts';

const MINUTE_MS = 60_000;

/** Addresses that are being watched; the longest known are let go of. */
const ADDRESSES_MAX = 100_000;

/** Counts who was refused how often, so that nobody can try secrets one after the other. */
export class Failures {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #windows = new Map<string, Window>();

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** Whether an address has used up its minute. The address is asked for only when it matters. */
  areTooMany(address: () => string): boolean {
    if (this.#windows.size === 0) return false;
    const window = this.#windows.get(limitKey(address()));
    return window?.isFull(this.#clock.now(), this.#perMinute, MINUTE_MS) ?? false;
  }

  /** Counts one; false when the minute was used up already. */
  add(address: string): boolean {
    const window = this.#windows.getOrInsertComputed(limitKey(address), () => new Window());
    if (this.#windows.size > ADDRESSES_MAX) this.#windows.delete(this.#windows.keys().next().value!);
    return window.take(this.#clock.now(), this.#perMinute, MINUTE_MS);
  }
}
