import type { LatestPrice, SourcedBar } from '../../../src/board/series/price-types.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { type BarRevision, PROVISIONAL } from '../../../src/ledger/prices/bars.ts';
import type { PriceOrigin } from '../../../src/ledger/symbols/origin.ts';
import type { LedgerSymbol } from '../../../src/ledger/symbols/symbols.ts';
import type { LedgerTick } from '../../../src/ledger/ticks/tick.ts';
import { type Fold, foldTick, isBefore, ohlcOf } from '../../../src/market/bar.ts';
import { type Day, EARLIEST_DAY, LAST_DAY } from '../../../src/market/day.ts';
import { hasEnded, marketOf, sessionEnd } from '../../../src/market/session.ts';
import { isBarSeen, outlivesWithdrawal, tickSeenFrom } from '../../../src/market/visibility.ts';

/** What a view shows of a symbol. */
export interface ReferencePrices {
  bars: SourcedBar[];
  latest: LatestPrice | undefined;
}

export interface ReferenceScope {
  horizon: number;
  /** Bars recorded later are not visible. */
  recordedBy: number;
  first: Day;
  last: Day;
}

const EVERYTHING = { recordedBy: Number.POSITIVE_INFINITY, first: EARLIEST_DAY, last: LAST_DAY };

/**
 * What a view at `horizon` shows of a symbol, computed from the whole ledger by the rules of the contract. Slow and simple:
 * tests compare the board with it.
 */
export async function shownByReference(
  ledger: Ledger,
  symbol: LedgerSymbol,
  horizon: number,
): Promise<ReferencePrices> {
  const scope = { ...EVERYTHING, horizon };
  const real = await historyByReference(ledger, symbol, 'real', scope);
  return real.latest ? real : historyByReference(ledger, symbol, 'simulated', scope);
}

/** The same for one origin and a range of days. Tests compare `past/` with it. */
export async function historyByReference(
  ledger: Ledger,
  symbol: LedgerSymbol,
  origin: PriceOrigin,
  { horizon, recordedBy, first, last }: ReferenceScope,
): Promise<ReferencePrices> {
  const market = marketOf(symbol.market);
  const published = new Map<Day, BarRevision>();
  for (const bar of await ledger.bars.revisions(symbol.id, origin, first, last)) {
    if (bar.recordedAt > recordedBy) continue;
    if (isBarSeen(bar, market, horizon)) published.set(bar.day, bar);
  }
  const ticks: LedgerTick[] = [];
  for (const day of await ledger.ticks.days(symbol.id, origin)) {
    if (day < first || day > last) continue;
    const ofDay = await ledger.ticks.ofDay(symbol.id, origin, day);
    const bar = published.get(day);
    for (const tick of ofDay) {
      const until = bar?.ticksWithdrawnUntil;
      if (tickSeenFrom(tick) > horizon) continue;
      if (until === undefined || outlivesWithdrawal(tick, until)) ticks.push(tick);
    }
  }
  for (const [day, bar] of published) if (bar.withdrawn) published.delete(day);

  const days = [...new Set([...published.keys(), ...ticks.map((tick) => tick.day)])].sort((a, b) => a - b);
  const bars = days.map((day): SourcedBar => {
    const bar = published.get(day);
    if (bar) {
      const { open, high, low, close, sourceId } = bar;
      return { day, open, high, low, close, sourceId };
    }
    let fold: Fold<LedgerTick> | undefined;
    for (const tick of ticks) if (tick.day === day) fold = foldTick(fold, tick);
    return { day, ...ohlcOf(fold!), sourceId: fold!.close.sourceId };
  });

  const canOverride = ({ at, day }: LedgerTick) =>
    !hasEnded(market, day, horizon) || at > sessionEnd(market, day);
  return { bars, latest: newestPrice([...published.values()].at(-1), ticks, canOverride) };
}

function newestPrice(
  bar: BarRevision | undefined,
  ticks: readonly LedgerTick[],
  canOverride: (tick: LedgerTick) => boolean,
): LatestPrice | undefined {
  let tick: LedgerTick | undefined;
  for (const next of ticks) {
    if (!tick || next.day > tick.day || (next.day === tick.day && isBefore(tick, next))) tick = next;
  }
  if (tick && (!bar || tick.day > bar.day || overrides(tick, bar, canOverride))) {
    return { price: tick.price, day: tick.day, at: tick.at, sourceId: tick.sourceId };
  }
  return bar && { price: bar.close, day: bar.day, at: undefined, sourceId: bar.sourceId };
}

/**
 * A tick recorded after the bar of its day, or after the bar that this one restored, wins until the session ends, and if it was made after that. Over a provisional bar
 * it always wins.
 */
function overrides(tick: LedgerTick, bar: BarRevision, canOverride: (tick: LedgerTick) => boolean): boolean {
  if (tick.day !== bar.day) return false;
  return bar.reason === PROVISIONAL || (canOverride(tick) && tick.revision > (bar.restores ?? bar.revision));
}
