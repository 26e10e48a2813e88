import { BoundedCache, copyText } from '../runtime/bounded-cache.ts';
import type { Clock } from '../runtime/clock.ts';
import { MINUTE_MS } from '../runtime/durations.ts';
import { limitKey } from './addresses.ts';
import { RateWindow } from './rate-window.ts';

const WINDOW_BYTES = 64;
const BYTES_MAX_DEFAULT = 8 * 1024 * 1024;

/** Counts wrong keys or tokens per address. Valid ones are never limited by it. */
export class FailedAttempts {
  /** By address; the oldest are evicted. */
  readonly #windows: BoundedCache<string, RateWindow>;
  readonly #clock: Clock;
  readonly #perMinute: number;

  constructor(
    clock: Clock,
    perMinute: number,
    windows: BoundedCache<string, RateWindow> = new BoundedCache({ bytesMax: BYTES_MAX_DEFAULT }),
  ) {
    this.#windows = windows;
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** Whether an address has reached its limit. `address` is called only when there are failed attempts. */
  isOverLimit(address: () => string): boolean {
    if (this.#windows.size === 0) return false;
    const window = this.#windows.get(limitKey(address()));
    return window?.isFull(this.#clock.now(), this.#perMinute, MINUTE_MS) ?? false;
  }

  /** Counts one failed attempt. Returns 0, or how long the address must wait if it was over its limit already, in ms. */
  add(address: string): number {
    const key = limitKey(address);
    const window = this.#windows.get(key) ?? new RateWindow();
    if (!this.#windows.has(key)) this.#windows.set(copyText(key), window, WINDOW_BYTES);
    const now = this.#clock.now();
    return window.take(now, this.#perMinute, MINUTE_MS) ? 0 : window.endsIn(now, MINUTE_MS);
  }
}
