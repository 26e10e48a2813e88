import type { FeedRun } from '../../ledger/operations/feed-runs.ts';
import type { Day } from '../../market/day.ts';

/** A series of a feed that fails by itself. */
export interface FailingFeedSymbol {
  series: string;
  symbol: string;
  reason: string;
  since: number;
  /** When its prices count as stale. */
  lateAt: number | undefined;
}

/** How one feed stands, with what must be said of its prices. */
export interface FeedStatus {
  key: string;
  title: string;
  licence: { redistribution: 'yes' | 'attribution' | 'no'; attribution: string; url: string };
  schedule: string;
  zone: string;
  symbols: number;
  enabled: boolean;
  lateAt: number | undefined;
  lastRun: { number: number; started: number; status: string; message: string | undefined } | undefined;
  lastOkAt: number | undefined;
  nextRunAt: number | undefined;
  failures: number;
  /** Series that fail while the others of the feed do not. */
  failing: readonly FailingFeedSymbol[];
  days: number;
  gaps: number;
  firstDay: Day | undefined;
  lastDay: Day | undefined;
}

/** What the service knows of its feeds, in memory: those that are on, and those that have brought something. */
export type ListFeedStatus = () => readonly FeedStatus[];

/** A feed that has missed its schedule twice. */
export function isLate({ enabled, lateAt }: FeedStatus, now: number): boolean {
  return enabled && lateAt !== undefined && now > lateAt;
}

/** The series of a feed that have failed for so long that their prices are stale. */
export function lateSeries({ enabled, failing }: FeedStatus, now: number): readonly FailingFeedSymbol[] {
  return enabled ? failing.filter(({ lateAt }) => lateAt !== undefined && now > lateAt) : [];
}

/** A feed as the operator sees it, whether it is on or not. */
export interface FeedReport extends Omit<FeedStatus, 'symbols'> {
  late: boolean;
  /** Codes of the symbols that it brings now. */
  symbols: readonly string[];
  /** How many it has a series for. */
  series: number;
  /** Settings that it needs and that are not there. */
  lacking: readonly string[];
  /** Who runs it now. */
  holder: string | undefined;
  /** The newest first. */
  runs: readonly FeedRun[];
}

/** Where the operator sees the feeds and turns them on and off. */
export interface FeedAdminPort {
  list(now: number): Promise<readonly FeedReport[]>;
  /** Answers false when there is no such feed. */
  turn(key: string, enabled: boolean, now: number): Promise<boolean>;
}
