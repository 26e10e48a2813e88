/** The result of a request for units: all of them, or none. A refusal is expected, so it is a value. */
export type Spend = Spent | QuotaRefusal;

export interface Spent {
  readonly ok: true;
  /** The quota less the best known `used`: below 0 after the quota was lowered. Read it at once: it is live. */
  readonly remaining: number;
}

export interface QuotaRefusal {
  readonly ok: false;
  /**
   * `exhausted`: fewer units than requested are left of the month's quota. `unavailable`: this replica holds too few units,
   * and the ledger cannot be reached, or other replicas hold the rest and do not return it.
   */
  readonly reason: 'exhausted' | 'unavailable';
  readonly retryAfterSeconds: number;
}

export const UNAVAILABLE: QuotaRefusal = { ok: false, reason: 'unavailable', retryAfterSeconds: 1 };

/** Units are left again when the quotas reset. */
export function exhausted(secondsToReset: number): QuotaRefusal {
  return { ok: false, reason: 'exhausted', retryAfterSeconds: secondsToReset };
}
