import { isTickBar } from '../../ledger/corrections/tick-bars.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import type { PriceOrigin } from '../../ledger/symbols/origin.ts';
import { meanOfSum } from '../../market/analytics/mean.ts';
import type { Day } from '../../market/day.ts';
import { foldIntraday, type IntradayBar } from '../../market/intraday/bar.ts';
import {
  HOUR_MS,
  INTRADAY_MS,
  type IntradayInterval,
  MINUTE_MS,
  type TimeRange,
} from '../../market/intraday/interval.ts';
import { marketOf, tradeDate } from '../../market/session.ts';
import type { PricedIntradayBar } from '../series/price-types.ts';
import type { Series } from '../series/series.ts';
import type { VisibleHistory } from './visible-history.ts';

/** A series, what is visible of it, and when the bar of a day was withdrawn, in ms. */
export interface IntradaySource {
  series: Series;
  history: VisibleHistory;
  withdrawnAt(day: Day): number | undefined;
}

/** The trade dates to which the ticks of a time belong, in the markets of all these series. */
export function tradeDatesOf(series: readonly Series[], { from, to }: TimeRange): DayRange {
  const markets = [...new Set(series.map(({ symbol }) => symbol.market))].map(marketOf);
  return {
    first: Math.min(...markets.map((market) => tradeDate(market, from))),
    last: Math.max(...markets.map((market) => tradeDate(market, to - 1))),
  };
}

/**
 * Reads the bars of an interval that start within a time range, as they are visible at a horizon. Ticks are
 * read before stored bars: bars are stored before ticks are deleted, so a day without stored bars had all its
 * ticks.
 */
export async function loadIntraday(
  ledger: Ledger,
  sources: readonly IntradaySource[],
  { time, interval, horizon }: { time: TimeRange; interval: IntradayInterval; horizon: number },
): Promise<Map<Series, PricedIntradayBar[]>> {
  const found = new Map<Series, Map<Day, IntradayBar[]>>();
  for (const source of sources) found.set(source.series, await foldTicks(ledger, source, time, horizon));
  for (const [origin, members] of Map.groupBy(sources, ({ history }) => history.origin)) {
    await readStored(ledger, members, origin, { time, interval, horizon }, found);
  }
  const ms = INTRADAY_MS[interval];
  return new Map(
    [...found].map(([series, byDay]) => {
      const bars = [...byDay].sort(([a], [b]) => a - b).flatMap(([, own]) => own);
      const folded = foldIntraday(bars, ms).filter(({ at }) => at >= time.from && at < time.to);
      return [series, folded.map((bar) => priced(bar, series))];
    }),
  );
}

async function foldTicks(
  { intraday }: Ledger,
  { series, history, withdrawnAt }: IntradaySource,
  range: TimeRange,
  horizon: number,
): Promise<Map<Day, IntradayBar[]>> {
  const { first, last } = tradeDatesOf([series], range);
  const byDay = new Map<Day, IntradayBar[]>();
  for (const day of history.tickDays) {
    if (day < first || day > last) continue;
    const receivedAfter = withdrawnAt(day);
    const limits = { range, horizon, ...(receivedAfter !== undefined && { receivedAfter }) };
    byDay.set(day, await intraday.fold({ symbolId: series.symbol.id, origin: history.origin, day }, limits));
  }
  return byDay;
}

/** Stored bars replace what was folded from ticks. One is visible from its end on, and unless its day was withdrawn later. */
async function readStored(
  ledger: Ledger,
  sources: readonly IntradaySource[],
  origin: PriceOrigin,
  { time, interval, horizon }: { time: TimeRange; interval: IntradayInterval; horizon: number },
  found: ReadonlyMap<Series, Map<Day, IntradayBar[]>>,
): Promise<void> {
  const byId = new Map(sources.map((source) => [source.series.symbol.id, source]));
  const days = tradeDatesOf(
    sources.map(({ series }) => series),
    time,
  );
  const detail = interval === 'hour' ? 'hour' : 'minute';
  const lengthMs = interval === 'hour' ? HOUR_MS : MINUTE_MS;
  for (const stored of await ledger.intraday.stored(
    { origin, symbolIds: [...byId.keys()] },
    days,
    time,
    detail,
  )) {
    const source = byId.get(stored.symbolId)!;
    const hiddenBy = await hiddenUntil(ledger, source, stored.day, horizon);
    const bars = stored.bars.filter(({ at }) => at + lengthMs <= horizon && at + lengthMs > hiddenBy);
    found.get(source.series)!.set(stored.day, bars);
  }
}

/**
 * A withdrawal hides the stored bars of its day up to then, unless the day got a bar of ticks since: those ticks outlived the
 * withdrawal, and the stored bars were made of them.
 */
async function hiddenUntil(
  { bars }: Ledger,
  { series, history, withdrawnAt }: IntradaySource,
  day: Day,
  horizon: number,
): Promise<number> {
  const withdrawn = withdrawnAt(day);
  if (withdrawn === undefined) return Number.NEGATIVE_INFINITY;
  const revisions = await bars.revisions(series.symbol.id, history.origin, day, day);
  const visible = revisions.filter(({ recordedAt }) => recordedAt <= horizon);
  const since = visible.slice(visible.findLastIndex((bar) => bar.withdrawn) + 1);
  return since.some(isTickBar) ? Number.NEGATIVE_INFINITY : withdrawn;
}

function priced(bar: IntradayBar, { symbol }: Series): PricedIntradayBar {
  const average = meanOfSum(bar.closeSum, bar.minutes, symbol.decimals);
  return { ...bar, average, sourceIds: [bar.sourceId] };
}
