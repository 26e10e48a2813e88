import type { Ledger } from '../../ledger/ledger.ts';
import type { CountedDay, RecordedBy } from '../../ledger/prices/past.ts';
import type { PriceOrigin } from '../../ledger/symbols/origin.ts';
import { type Day, utcDay } from '../../market/day.ts';
import { hasEnded, type Market, marketOf } from '../../market/session.ts';
import type { Series } from '../series/series.ts';

/** A moment of the past, as one plan saw it. */
export interface PastMoment {
  delayMs: number;
  /** Later ticks are not visible, nor are bars recorded later whose session was still open at this time. */
  horizon: number;
  /** Bars recorded later are not visible. Never before `horizon`. */
  recordedBy: number;
  /** Whether symbols without visible real prices show simulated ones. */
  simulated: boolean;
}

/** What was visible of a series: its real or its simulated prices, and on which days. */
export interface VisibleHistory {
  origin: PriceOrigin;
  firstDay: Day;
  lastDay: Day;
  /** The trade dates with visible ticks, ascending. */
  tickDays: readonly CountedDay[];
}

/** The visible history of each series: the real one if any of it was visible, otherwise the simulated one. */
export async function visibleHistories(
  ledger: Ledger,
  series: readonly Series[],
  moment: PastMoment,
): Promise<Map<Series, VisibleHistory>> {
  const found = new Map<Series, VisibleHistory>();
  await findVisible(ledger, series, 'real', moment, found);
  if (moment.simulated) {
    const others = series.filter((one) => !found.has(one));
    await findVisible(ledger, others, 'simulated', moment, found);
  }
  return found;
}

async function findVisible(
  ledger: Ledger,
  series: readonly Series[],
  origin: PriceOrigin,
  { horizon, recordedBy }: PastMoment,
  found: Map<Series, VisibleHistory>,
): Promise<void> {
  if (series.length === 0) return;
  const byMarket = new Map<string, Day>(); // time zones make it expensive, and there are only ten markets
  const wanted = series.map(({ symbol }) => ({
    symbolId: symbol.id,
    lastEnded: byMarket.getOrInsertComputed(symbol.market, (market) =>
      lastEndedDay(marketOf(market), horizon),
    ),
  }));
  const by: RecordedBy = { ended: recordedBy, running: Math.min(recordedBy, horizon) };
  const barDays = await ledger.past.dayRanges(wanted, origin, by);
  const allTickDays = await ledger.past.tickDays(wanted, origin, by, horizon);
  const bySymbol = Map.groupBy(allTickDays, ({ symbolId }) => symbolId);
  for (const one of series) {
    const tickDays = bySymbol.get(one.symbol.id) ?? [];
    const bars = barDays.get(one.symbol.id);
    const days = [bars?.first, bars?.last, tickDays[0]?.day, tickDays.at(-1)?.day];
    const known = days.filter((day) => day !== undefined);
    if (known.length === 0) continue;
    found.set(one, { origin, firstDay: Math.min(...known), lastDay: Math.max(...known), tickDays });
  }
}

/** The last trade date whose session has ended. */
function lastEndedDay(market: Market, horizon: number): Day {
  let day = utcDay(horizon) + 1;
  while (!hasEnded(market, day, horizon)) day--;
  return day;
}
