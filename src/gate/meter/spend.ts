/** The answer to a request for units: all of them, or none. A refusal is expected, so it is a value. */
export type Spend = Spent | QuotaRefusal;

export interface Spent {
  readonly ok: true;
  /** The quota less the best known `used`. Read it at once: it is live. */
  readonly remaining: number;
}

export interface QuotaRefusal {
  readonly ok: false;
  /**
   * `exhausted`: less than the requested units is left of the month's quota. `unavailable`: the ledger is out of reach and
   * this replica holds too few units.
   */
  readonly reason: 'exhausted' | 'unavailable';
  readonly retryAfterSeconds: number;
}
