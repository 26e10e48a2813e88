/** The service's lifecycle, from start to stop. */
export type Phase = 'starting' | 'ready' | 'draining';

export interface Health {
  phase: Phase;
  /** Whether requests that need the ledger would fail: it is unreachable or damaged. */
  isLedgerUnusable: boolean;
  /** Names of the active alarms. */
  alarms: readonly string[];
  revision: number;
  /** Time of the newest price, in ms; undefined while there is none. */
  newestPriceAt: number | undefined;
  /** When a price was last written, for any day, in ms. */
  newestWriteAt: number | undefined;
  /** Whether simulated prices are being served. */
  simulated: boolean;
  /** Keys of feeds that have missed their schedule twice. */
  lateFeeds: readonly string[];
  /** Keys of feeds that have failing series. */
  partialFeeds: readonly string[];
  /** Whether the disk is too full to accept prices. */
  diskFull: boolean;
}

/** Whether the service can answer requests. */
export function isReady({ phase, isLedgerUnusable }: Health): boolean {
  return phase === 'ready' && !isLedgerUnusable;
}

/** Whole seconds since a time, or null if there is none. A bar whose session is still open has an age of 0. */
export function ageSeconds(at: number | undefined, now: number): number | null {
  return at === undefined ? null : Math.max(0, Math.floor((now - at) / 1000));
}
