import type { Ledger } from '../../ledger/ledger.ts';
import type { FailingSymbol, FeedRun } from '../../ledger/operations/feed-runs.ts';
import type { FeedHealth } from '../../ledger/operations/feeds.ts';

/** The status of one feed, with the attribution of its prices. */
export interface FeedStatus extends Omit<FeedHealth, 'late' | 'failing'> {
  title: string;
  licence: { redistribution: 'yes' | 'attribution' | 'no'; attribution: string; url: string };
  schedule: string;
  zone: string;
  /** How many symbols it currently provides. */
  symbols: number;
  /** Series that fail while the others of the feed do not. */
  failing: readonly FailingSymbol[];
}

/** The status of the enabled feeds and of those that have provided prices, from memory. */
export type ListFeedStatus = () => readonly FeedStatus[];

/** A feed that has missed its schedule twice. */
export function isLate({ enabled, lateAt }: FeedStatus, now: number): boolean {
  return enabled && lateAt !== undefined && now > lateAt;
}

/** The series of a feed that have failed long enough for their prices to be stale. */
export function lateSeries({ enabled, failing }: FeedStatus, now: number): readonly FailingSymbol[] {
  return enabled ? failing.filter(({ lateAt }) => lateAt !== undefined && now > lateAt) : [];
}

/** A feed as the operator sees it, enabled or not. */
export interface FeedReport extends Omit<FeedStatus, 'symbols'> {
  late: boolean;
  /** Codes of the symbols that it currently provides. */
  symbols: readonly string[];
  /** How many symbols it has a series for. */
  series: number;
  /** Required settings that are missing. */
  lacking: readonly string[];
  /** The process that is running it. */
  holder: string | undefined;
  /** The newest first. */
  runs: readonly FeedRun[];
}

/** An address that a provider's data is fetched from. Parts in braces are filled in by requests. */
export interface FeedAddress {
  name: string;
  url: string;
  /** The provider's own address; the operator may have replaced it. */
  own: string;
}

/** The operator's access to the feeds. `ledger` records who changes something. */
export interface FeedAdminPort {
  list(now: number): Promise<readonly FeedReport[]>;
  /** Returns false if there is no such feed. */
  setEnabled(ledger: Ledger, key: string, enabled: boolean, now: number): Promise<boolean>;
  /** Has a feed run now, even if it is disabled. Returns false if there is no such feed. */
  requestRun(ledger: Ledger, key: string, accept: boolean): Promise<boolean>;
  /** Undefined if there is no such feed. */
  addresses(key: string): Promise<readonly FeedAddress[] | undefined>;
  /**
   * Replaces addresses by name; those that are left out become the provider's own. Returns why that is not possible, or
   * undefined if there is no such feed.
   */
  setAddresses(
    ledger: Ledger,
    key: string,
    urls: Readonly<Record<string, string>>,
  ): Promise<readonly FeedAddress[] | { problem: string } | undefined>;
  /** Has the bundle of real history loaded by the process that runs the feeds. */
  requestSample(ledger: Ledger): Promise<void>;
}
