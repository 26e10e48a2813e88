import type { OwnerEndpoint } from '../../model/endpoint.ts';
import { type FeedStatus, isLate, type ListFeedStatus } from '../../model/feed-status.ts';
import { basicsOf, coverageOf, time } from './feed-record.ts';

/** GET /feeds: where prices come from, how fresh they are, and the attribution they require. Free. */
export function feedsEndpoint(known: ListFeedStatus): OwnerEndpoint {
  return {
    kind: 'owner',
    name: 'feeds',
    path: '/feeds',
    actions: {
      async GET({ now }) {
        return { success: true, feeds: known().map((feed) => record(feed, now)) };
      },
    },
  };
}

function record(feed: FeedStatus, now: number) {
  const { schedule, zone, symbols, lastRun } = feed;
  return {
    ...basicsOf(feed),
    late: isLate(feed, now),
    schedule,
    zone,
    symbols,
    lastRun: lastRun ? { at: time(lastRun.started), status: lastRun.status } : null,
    lastOkAt: time(feed.lastOkAt),
    nextRunAt: time(feed.nextRunAt),
    failing: feed.failing.map(({ symbol, since }) => ({ symbol, since: time(since) })),
    ...coverageOf(feed),
  };
}
