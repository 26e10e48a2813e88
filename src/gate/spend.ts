/** The answer to a request for one unit. A refusal is expected, so it is a value. */
export type Spend = Spent | Refusal;

export interface Spent {
  readonly ok: true;
  /** The quota less the best known `used`. Read it at once: it is live. */
  readonly remaining: number;
}

export interface Refusal {
  readonly ok: false;
  /** `exhausted`: the month's quota is spent. `unavailable`: the ledger is out of reach and no unit is left here. */
  readonly reason: 'exhausted' | 'unavailable';
  readonly retryAfterSeconds: number;
}
