import type { Ledger } from '../ledger/ledger.ts';
import { type DatePage, type DateRow, readDatePage } from '../ledger/prices/date-pages.ts';
import type { Day } from '../market/day.ts';
import { lastDayEnded, marketOf, sessionEnd } from '../market/session.ts';
import { barSeenFrom } from '../market/visibility.ts';
import { shouldYield, yieldToRequests } from '../runtime/yield.ts';
import { SeriesDates } from './series/series-dates.ts';
import type { SymbolSeries } from './series/symbol-series.ts';

/** A page takes about 3 ms on SQLite. */
const SYMBOLS_PER_PAGE = 200;

/** Loads first and last dates for one request at a time: concurrent requests most likely need the same dates. */
export class DateLoader {
  readonly #ledger: Ledger;
  #loading: Promise<void> | undefined;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  async load(wanted: readonly SymbolSeries[], earliestHorizon: () => number): Promise<void> {
    while (this.#loading) await this.#loading.catch(() => {});
    const missing = wanted.filter((series) => !series.has('dates'));
    if (missing.length === 0) return;
    this.#loading = loadDates(this.#ledger, missing, earliestHorizon());
    try {
      await this.#loading;
    } finally {
      this.#loading = undefined;
    }
  }
}

/** Reads the dates of all these series, in pages. Skips series that change meanwhile or whose dates depend on their prices. */
async function loadDates(
  ledger: Ledger,
  wanted: readonly SymbolSeries[],
  earliestHorizon: number,
): Promise<void> {
  // For every view, the sessions of earlier days have ended.
  const cutoff = lastDayEnded(earliestHorizon) + 1;
  const sorted = wanted.toSorted((a, b) => a.symbol.id - b.symbol.id);
  for (let from = 0; from < sorted.length; from += SYMBOLS_PER_PAGE) {
    if (shouldYield()) await yieldToRequests();
    const page = sorted.slice(from, from + SYMBOLS_PER_PAGE);
    const before = page.map((series) => series.changeCount);
    const ids = page.map((series) => series.symbol.id);
    const rows = await readDatePage(ledger.engine, ids[0]! - 1, ids.at(-1)!, cutoff);
    const dates = datesOf(rows, page, cutoff);
    for (const [i, series] of page.entries()) {
      if (series.changeCount === before[i]) series.dates = dates.get(series.symbol.id);
    }
  }
}

/**
 * The first and last dates of each series. Days from the cutoff on are listed with the horizon from which they are visible,
 * because views with different delays differ there. Series whose dates are uncertain are left out.
 */
function datesOf(page: DatePage, wanted: readonly SymbolSeries[], cutoff: Day): Map<number, SeriesDates> {
  const series = new Map(wanted.map((one) => [one.symbol.id, one]));
  const recent = new Map<number, Map<Day, number>>();
  const uncertain = new Set<number>();
  const add = (symbolId: number, day: Day, seenFrom: number) => {
    const days = recent.getOrInsertComputed(symbolId, () => new Map());
    days.set(day, Math.min(days.get(day) ?? Number.POSITIVE_INFINITY, seenFrom));
  };
  for (const { symbolId, day, recordedAt, isWithdrawn } of page.bars) {
    const market = series.get(symbolId)?.symbol.market;
    if (market === undefined) continue;
    if (isWithdrawn) uncertain.add(symbolId);
    add(symbolId, day, barSeenFrom(sessionEnd(marketOf(market), day), recordedAt));
  }
  for (const { symbolId, day, seenFrom } of page.ticks) {
    if (seenFrom === undefined) uncertain.add(symbolId);
    else add(symbolId, day, seenFrom);
  }
  const dates = new Map<number, SeriesDates>();
  for (const row of page.rows) {
    const { symbolId, firstDay, lastDay } = row;
    const one = series.get(symbolId);
    if (one?.isHidden) dates.set(symbolId, new SeriesDates(false, undefined, undefined, []));
    if (!one || one.isHidden || uncertain.has(symbolId) || isUncertain(row, one, cutoff)) continue;
    const days = [...(recent.get(symbolId) ?? [])].map(([day, seenFrom]) => ({ day, seenFrom }));
    days.sort((a, b) => a.day - b.day);
    dates.set(symbolId, new SeriesDates(one.symbol.real, firstDay, lastDay, days));
  }
  return dates;
}

/** Whether old days have ticks but no bar, the first or last bar was withdrawn, or a view may show simulated prices. */
function isUncertain(row: DateRow, { symbol }: SymbolSeries, cutoff: Day): boolean {
  const { firstDay, lastDay, isWithdrawn, firstTickDay, lastTickDay } = row;
  if (isWithdrawn || (symbol.real && firstDay === undefined)) return true;
  if (firstTickDay === undefined || lastTickDay === undefined) return false;
  const before = Math.min(cutoff, firstDay ?? cutoff);
  return (
    firstTickDay < before || (lastTickDay < cutoff && lastTickDay > (lastDay ?? Number.NEGATIVE_INFINITY))
  );
}
