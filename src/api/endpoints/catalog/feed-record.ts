import { printDay } from '../../../market/day.ts';
import type { FeedStatus } from '../../model/feed-status.ts';

/** Fields of a feed shared by /feeds and /admin/feeds. */
export function basicsOf({
  key,
  title,
  licence,
  enabled,
}: Pick<FeedStatus, 'key' | 'title' | 'licence' | 'enabled'>) {
  return {
    key,
    title,
    licence: licence.redistribution,
    attribution: licence.attribution,
    licenceUrl: licence.url,
    enabled,
  };
}

/** The days for which a feed has delivered prices. */
export function coverageOf(feed: Pick<FeedStatus, 'days' | 'gaps' | 'firstDay' | 'lastDay'>) {
  return {
    rows: feed.days,
    gaps: feed.gaps,
    firstDate: date(feed.firstDay),
    lastDate: date(feed.lastDay),
  };
}

export function time(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

function date(day: number | undefined): string | null {
  return day === undefined ? null : printDay(day);
}
