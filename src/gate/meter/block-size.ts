/**
 * A lease holds 5 seconds of the account's traffic. It is not changed while it holds between 2 and 10 seconds, so that
 * a steady account does not oscillate. The ledger grants a smaller block when the quota is small or nearly spent.
 */
const LOW_SECONDS = 2;
const WANTED_SECONDS = 5;
const HIGH_SECONDS = 10;

/** For an account that is new or sends a request now and then. */
const UNSPENT_MIN = 10;

/** Below this a rate is a guess: ten requests in one millisecond are not ten thousand a second. */
const WINDOW_MS_MIN = 100;
const WINDOW_MS = 1_000;

/** The account's traffic on this replica, in requests per second. */
export class Traffic {
  #since: number;
  #spentThen = 0;
  #lastRate = 0;

  constructor(now: number) {
    this.#since = now;
  }

  /** The higher of the last full window and the current one, so that a rise is seen at once. */
  perSecond(spent: number, now: number): number {
    const elapsedMs = now - this.#since;
    const rate = ((spent - this.#spentThen) * 1_000) / Math.max(elapsedMs, WINDOW_MS_MIN);
    const highest = Math.max(rate, this.#lastRate);
    if (elapsedMs >= WINDOW_MS) {
      this.#since = now;
      this.#spentThen = spent;
      this.#lastRate = rate;
    }
    return highest;
  }
}

/** How many units to hold unspent, given how many are held and the traffic. */
export function unspentWanted(unspent: number, perSecond: number): number {
  const inBand = unspent >= perSecond * LOW_SECONDS && unspent <= perSecond * HIGH_SECONDS;
  return inBand && unspent >= UNSPENT_MIN
    ? unspent
    : Math.max(UNSPENT_MIN, Math.ceil(perSecond * WANTED_SECONDS));
}

/** The number of unspent units at which the next block is requested, while the rest is being spent. */
export function lowWater(unspent: number): number {
  return Math.floor((unspent * LOW_SECONDS) / WANTED_SECONDS);
}
