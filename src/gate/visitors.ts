import { BoundedCache, copyText } from '../runtime/bounded-cache.ts';
import { MINUTE_MS, SECOND_MS } from '../runtime/durations.ts';
import { limitKey } from './addresses.ts';
import { RateWindow } from './rate-window.ts';

/** Units that an address may use at once: ten visits with five symbols each. */
export const VISITOR_UNITS_MAX = 120;

/** How many of them an address regains: enough to open a symbol every ten seconds. */
export const VISITOR_UNITS_PER_MINUTE = 12;

const VISITOR_BYTES = 128;
const BYTES_MAX_DEFAULT = 8 * 1024 * 1024;

/** The limits of one address: requests of the current second, and a token bucket of units. */
interface Visitor {
  readonly burst: RateWindow;
  units: number;
  /** When `units` was computed, in ms. */
  at: number;
}

/** The units that an address has left, and how long it must wait for those it needs; 0 if it need not wait. */
export interface VisitorBalance {
  remaining: number;
  retryAfterSeconds: number;
}

/** The units left after a charge, or how long the address must wait for it. */
export type VisitorCharge = { ok: true; remaining: number } | { ok: false; retryAfterSeconds: number };

/**
 * The limits of the key that the page gives to everybody. They apply per address, in each process: one visitor can neither use
 * up what others need nor read prices faster than the page does.
 */
export class Visitors {
  /** By address. The oldest are evicted. */
  readonly #visitors: BoundedCache<string, Visitor>;

  constructor(bytesMax = BYTES_MAX_DEFAULT) {
    this.#visitors = new BoundedCache({ bytesMax });
  }

  /** Counts a request if the address may send another in this second. */
  admit(address: string, now: number, perSecond: number): boolean {
    return this.#of(address, now).burst.take(now, perSecond, SECOND_MS);
  }

  /** Takes all units or none. */
  charge(address: string, units: number, now: number): VisitorCharge {
    const { remaining, retryAfterSeconds } = this.balance(address, units, now);
    if (retryAfterSeconds > 0) return { ok: false, retryAfterSeconds };
    this.#of(address, now).units -= units;
    return { ok: true, remaining: remaining - units };
  }

  /** Whether the address could be charged that many units. Charges nothing. */
  balance(address: string, units: number, now: number): VisitorBalance {
    const visitor = this.#of(address, now);
    const elapsed = Math.max(0, now - visitor.at);
    const regained = (elapsed * VISITOR_UNITS_PER_MINUTE) / MINUTE_MS;
    visitor.units = Math.min(VISITOR_UNITS_MAX, visitor.units + regained);
    visitor.at = now;
    const missing = Math.max(0, units - visitor.units);
    return {
      remaining: Math.floor(visitor.units),
      retryAfterSeconds: Math.ceil((missing * 60) / VISITOR_UNITS_PER_MINUTE),
    };
  }

  #of(address: string, now: number): Visitor {
    const key = limitKey(address);
    const known = this.#visitors.get(key);
    if (known) return known;
    const visitor: Visitor = { burst: new RateWindow(), units: VISITOR_UNITS_MAX, at: now };
    this.#visitors.set(copyText(key), visitor, VISITOR_BYTES);
    return visitor;
  }
}
