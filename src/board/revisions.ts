import type { BarRevision, BarStore, Strand } from '../ledger/bars.ts';
import type { Day } from '../market/day.ts';
import { marketOf } from '../market/session.ts';
import { isBarSeen } from '../market/visibility.ts';
import type { Series } from './series.ts';

/** What a view shows of a symbol: which strand, and what came in by when. */
export interface Sight {
  strand: Strand;
  horizon: number;
}

export interface DayRange {
  first: Day;
  last: Day;
}

/** Versions of days, and the last day that was looked at. */
export interface Revised {
  bars: BarRevision[];
  lookedTo: Day;
}

/** Every version of one day's bar that can be seen, the oldest first. */
export async function readRevisions(
  bars: BarStore,
  series: Series,
  day: Day,
  { strand, horizon }: Sight,
): Promise<BarRevision[]> {
  const revisions = await bars.revisions(series.symbol.id, strand, day, day);
  return revisions.filter((bar) => isBarSeen(bar, marketOf(series.symbol.market), horizon));
}

/** Every version of the days that have more than one that can be seen. It stops after `limit` versions, between two days. */
export async function readRevised(
  bars: BarStore,
  series: Series,
  { first, last }: DayRange,
  limit: number,
  { strand, horizon }: Sight,
): Promise<Revised> {
  let found = await bars.revised(series.symbol.id, strand, first, last, limit + 1);
  let lookedTo = last;
  if (found.length > limit) {
    const [from, to] = [found[0]!.day, found.at(-1)!.day];
    lookedTo = Math.max(from, to - 1);
    if (from === to) found = await bars.revisions(series.symbol.id, strand, from, to);
  }
  const seen = found.filter(
    (bar) => bar.day <= lookedTo && isBarSeen(bar, marketOf(series.symbol.market), horizon),
  );
  const byDay = Map.groupBy(seen, (bar) => bar.day);
  return { bars: seen.filter((bar) => byDay.get(bar.day)!.length > 1), lookedTo };
}
