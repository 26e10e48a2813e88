/** What is known of an answer that was paid for and was too long to be kept. */
export interface ChargedAnswer {
  /** Undefined for the market view, and for what was read from the ledger. */
  readonly etag: string | undefined;
}
