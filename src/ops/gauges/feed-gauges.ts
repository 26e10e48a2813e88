import { type FeedStatus, isLate, type ListFeedStatus } from '../../api/model/feed-status.ts';
import type { Gauge } from '../../api/telemetry/metrics.ts';
import type { Clock } from '../../runtime/clock.ts';

/** The metrics of each feed. */
export function feedGauges(feeds: ListFeedStatus, clock: Clock): Gauge[] {
  const each = (name: string, help: string, of: (feed: FeedStatus) => number | undefined): Gauge => ({
    name,
    help,
    value: () =>
      new Map(
        feeds().flatMap((feed): [string, number][] => {
          const value = of(feed);
          return value === undefined ? [] : [[`feed="${feed.key}"`, value]];
        }),
      ),
  });
  return [
    each('openpit_feed_late', '1 when a feed has missed its schedule twice.', (feed) =>
      Number(isLate(feed, clock.now())),
    ),
    each(
      'openpit_feed_last_ok_age_seconds',
      'Time since the last successful run of the feed.',
      ({ lastOkAt }) => (lastOkAt === undefined ? undefined : Math.max(0, (clock.now() - lastOkAt) / 1000)),
    ),
    each('openpit_feed_rows', 'Days for which the feed has delivered a price.', (feed) => feed.days),
    each('openpit_feed_gaps', 'Days without a price between its first and its last.', (feed) => feed.gaps),
    each(
      'openpit_feed_failing_series',
      'Series that fail while other series of the feed succeed.',
      (feed) => feed.failing.length,
    ),
    each('openpit_feed_failures', 'Failed runs in a row.', (feed) => feed.failures),
  ];
}
