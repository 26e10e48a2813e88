import { BoundedCache, copyText } from '../runtime/bounded-cache.ts';
import type { Clock } from '../runtime/clock.ts';
import { limitKey } from './addresses.ts';
import { RateWindow } from './rate-window.ts';

const MINUTE_MS = 60_000;

const WINDOW_BYTES = 64;
/** Used where nothing else is said. */
const BYTES_MAX_DEFAULT = 8 * 1024 * 1024;

/** Counts wrong secrets per address. It never judges a right one. */
export class FailedAttempts {
  /** By address; the longest known are evicted. */
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

  /** Whether an address has reached its limit. The address is asked for only when it matters. */
  areTooMany(address: () => string): boolean {
    if (this.#windows.size === 0) return false;
    const window = this.#windows.get(limitKey(address()));
    return window?.isFull(this.#clock.now(), this.#perMinute, MINUTE_MS) ?? false;
  }

  /** Counts one. Returns 0, or how long the address has to wait when it had reached its limit before. */
  add(address: string): number {
    const key = limitKey(address);
    const window = this.#windows.get(key) ?? new RateWindow();
    if (!this.#windows.has(key)) this.#windows.set(copyText(key), window, WINDOW_BYTES);
    const now = this.#clock.now();
    return window.take(now, this.#perMinute, MINUTE_MS) ? 0 : window.endsIn(now, MINUTE_MS);
  }
}
