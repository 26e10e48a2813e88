import type { Ledger } from '../ledger/ledger.ts';
import { type DatePage, type DateRow, readDatePage } from '../ledger/prices/date-pages.ts';
import type { Day } from '../market/day.ts';
import { utcDay } from '../market/day.ts';
import { marketOf, sessionEnd } from '../market/session.ts';
import { barSeenFrom } from '../market/visibility.ts';
import { shouldYield, yieldToRequests } from '../runtime/yield.ts';
import type { Series } from './series/series.ts';
import { SeriesDates } from './series/series-dates.ts';

/** About 3 ms for SQLite. */
const SYMBOLS_PER_PAGE = 200;

/**
 * Reads the dates of all these series together, in pages. A series that changes meanwhile, or whose dates cannot be told without
 * its prices, gets none.
 */
export async function loadDates(
  ledger: Ledger,
  wanted: readonly Series[],
  earliestHorizon: number,
): Promise<void> {
  // Every view sees the sessions of earlier days as ended, in any zone.
  const cutoff = utcDay(earliestHorizon) - 1;
  const sorted = wanted.toSorted((a, b) => a.symbol.id - b.symbol.id);
  for (let from = 0; from < sorted.length; from += SYMBOLS_PER_PAGE) {
    if (shouldYield()) await yieldToRequests();
    const page = sorted.slice(from, from + SYMBOLS_PER_PAGE);
    const before = page.map((series) => series.changes);
    const ids = page.map((series) => series.symbol.id);
    const read = await readDatePage(ledger.engine, ids[0]! - 1, ids.at(-1)!, cutoff);
    const made = datesOf(read, page, cutoff);
    for (const [i, series] of page.entries()) {
      if (series.changes === before[i]) series.dates = made.get(series.symbol.id);
    }
  }
}

function datesOf(page: DatePage, wanted: readonly Series[], cutoff: Day): Map<number, SeriesDates> {
  const series = new Map(wanted.map((one) => [one.symbol.id, one]));
  const young = new Map<number, Map<Day, number>>();
  const unsure = new Set<number>();
  const add = (symbolId: number, day: Day, seenFrom: number) => {
    const days = young.getOrInsertComputed(symbolId, () => new Map());
    days.set(day, Math.min(days.get(day) ?? Number.POSITIVE_INFINITY, seenFrom));
  };
  for (const { symbolId, day, recordedAt, isWithdrawn } of page.bars) {
    const market = series.get(symbolId)?.symbol.market;
    if (market === undefined) continue;
    if (isWithdrawn) unsure.add(symbolId);
    add(symbolId, day, barSeenFrom(sessionEnd(marketOf(market), day), recordedAt));
  }
  for (const { symbolId, day, seenFrom } of page.ticks) {
    if (seenFrom === undefined) unsure.add(symbolId);
    else add(symbolId, day, seenFrom);
  }
  const made = new Map<number, SeriesDates>();
  for (const row of page.rows) {
    const { symbolId, firstDay, lastDay } = row;
    const one = series.get(symbolId);
    if (!one || unsure.has(symbolId) || isUnsure(row, one, cutoff)) continue;
    const days = [...(young.get(symbolId) ?? [])].map(([day, seenFrom]) => ({ day, seenFrom }));
    days.sort((a, b) => a.day - b.day);
    made.set(symbolId, new SeriesDates(one.symbol.real, firstDay, lastDay, days));
  }
  return made;
}

/** Whether old days have ticks and no bar, the edge of the history was withdrawn, or a view may show simulated prices. */
function isUnsure(row: DateRow, { symbol }: Series, cutoff: Day): boolean {
  const { firstDay, lastDay, isWithdrawn, firstTickDay, lastTickDay } = row;
  if (isWithdrawn || (symbol.real && firstDay === undefined)) return true;
  if (firstTickDay === undefined || lastTickDay === undefined) return false;
  const before = Math.min(cutoff, firstDay ?? cutoff);
  return (
    firstTickDay < before || (lastTickDay < cutoff && lastTickDay > (lastDay ?? Number.NEGATIVE_INFINITY))
  );
}
