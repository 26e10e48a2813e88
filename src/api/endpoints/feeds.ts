import { printDay } from '../../market/day.ts';
import type { OwnerEndpoint } from '../endpoint.ts';
import { type FeedKnown, type FeedsKnown, isLate } from '../feeds-known.ts';

/** GET /feeds: where the prices come from, how fresh they are, and what must be said of them. It is free. */
export function feedsEndpoint(known: FeedsKnown): OwnerEndpoint {
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

function record(feed: FeedKnown, now: number) {
  const { key, title, licence, enabled, schedule, zone, symbols, lastRun } = feed;
  const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  const date = (day: number | undefined) => (day === undefined ? null : printDay(day));
  return {
    key,
    title,
    licence: licence.redistribution,
    attribution: licence.attribution,
    licenceUrl: licence.url,
    enabled,
    late: isLate(feed, now),
    schedule,
    zone,
    symbols,
    lastRun: lastRun ? { at: time(lastRun.started), status: lastRun.status } : null,
    lastOkAt: time(feed.lastOkAt),
    nextRunAt: time(feed.nextRunAt),
    rows: feed.days,
    gaps: feed.gaps,
    firstDate: date(feed.firstDay),
    lastDate: date(feed.lastDay),
  };
}
