import { isTickBar } from '../../ledger/corrections/tick-bars.ts';
import type { IntradayDetail } from '../../ledger/intraday/hour-bars.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { BarRevision } from '../../ledger/prices/bars.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import type { PriceOrigin } from '../../ledger/symbols/origin.ts';
import { meanOfSum } from '../../market/analytics/mean.ts';
import type { Day } from '../../market/day.ts';
import { foldIntraday, type IntradayBar } from '../../market/intraday/bar.ts';
import { INTRADAY_MS, type IntradayInterval, type TimeRange } from '../../market/intraday/interval.ts';
import { marketOf, tradeDate } from '../../market/session.ts';
import { isBarSeen } from '../../market/visibility.ts';
import type { PricedIntradayBar } from '../series/price-types.ts';
import type { Series } from '../series/series.ts';
import type { VisibleHistory } from './visible-history.ts';

/** A series, and what is visible of it. */
export interface IntradaySource {
  series: Series;
  history: VisibleHistory;
}

/** Which bars are read, and by when prices were visible. */
interface IntradayScope {
  time: TimeRange;
  interval: IntradayInterval;
  horizon: number;
  recordedBy: number;
}

/** The visible versions of the days that were ever withdrawn, by symbol id and day. */
type WithdrawnDays = Map<number, Map<Day, BarRevision[]>>;

/** The trade dates to which the ticks of a time belong, in the markets of all these series. */
function tradeDatesOf(series: readonly Series[], { from, to }: TimeRange): DayRange {
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
  scope: IntradayScope,
): Promise<Map<Series, PricedIntradayBar[]>> {
  const { time, interval } = scope;
  const found = new Map<Series, Map<Day, IntradayBar[]>>();
  for (const [origin, members] of Map.groupBy(sources, ({ history }) => history.origin)) {
    const withdrawn = await readWithdrawn(ledger, members, origin, scope);
    for (const source of members) {
      found.set(source.series, await foldTicks(ledger, source, scope));
    }
    await readStored(ledger, members, origin, scope, withdrawn, found);
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

/** A lower bound of the time of the next bar: a tick or a stored bar there may be hidden. */
export async function nextIntraday(
  { intraday }: Ledger,
  sources: readonly IntradaySource[],
  from: number,
  interval: IntradayInterval,
): Promise<number | undefined> {
  const times: number[] = [];
  for (const [origin, members] of Map.groupBy(sources, ({ history }) => history.origin)) {
    const series = members.map((one) => one.series);
    const { first } = tradeDatesOf(series, { from, to: from + 1 });
    const symbolIds = series.map(({ symbol }) => symbol.id);
    const stored = await intraday.nextStored({ origin, symbolIds }, { first, from }, detailOf(interval));
    if (stored !== undefined) times.push(Math.max(from, stored));
    for (const { series, history } of members) {
      for (const { day } of history.tickDays) {
        if (day < first) continue;
        const at = await intraday.nextTick({ symbolId: series.symbol.id, origin, day }, from);
        if (at === undefined) continue;
        times.push(at);
        break;
      }
    }
  }
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** The first trade date with ticks or stored bars of each series that has any. Those bars may be hidden. */
export async function firstIntradayDays(
  { intraday }: Ledger,
  sources: readonly IntradaySource[],
  interval: IntradayInterval,
): Promise<ReadonlyMap<Series, Day>> {
  const found = new Map<Series, Day>();
  for (const [origin, members] of Map.groupBy(sources, ({ history }) => history.origin)) {
    const symbolIds = members.map(({ series }) => series.symbol.id);
    const stored = await intraday.firstStoredDays({ origin, symbolIds }, detailOf(interval));
    for (const { series, history } of members) {
      const days = [stored.get(series.symbol.id), history.tickDays[0]?.day].filter(
        (day) => day !== undefined,
      );
      if (days.length > 0) found.set(series, Math.min(...days));
    }
  }
  return found;
}

function detailOf(interval: IntradayInterval): IntradayDetail {
  return interval === 'hour' ? 'hour' : 'minute';
}

async function foldTicks(
  { intraday }: Ledger,
  { series, history }: IntradaySource,
  { time, horizon }: IntradayScope,
): Promise<Map<Day, IntradayBar[]>> {
  const { first, last } = tradeDatesOf([series], time);
  const byDay = new Map<Day, IntradayBar[]>();
  for (const { day, after } of history.tickDays) {
    if (day < first || day > last) continue;
    const limits = { range: time, horizon, receivedAfter: after };
    byDay.set(day, await intraday.fold({ symbolId: series.symbol.id, origin: history.origin, day }, limits));
  }
  return byDay;
}

/** Stored bars replace what was folded from ticks. One is visible from its end on, and unless its day was withdrawn later. */
async function readStored(
  ledger: Ledger,
  sources: readonly IntradaySource[],
  origin: PriceOrigin,
  { time, interval, horizon }: IntradayScope,
  withdrawn: WithdrawnDays,
  found: ReadonlyMap<Series, Map<Day, IntradayBar[]>>,
): Promise<void> {
  const byId = new Map(sources.map((source) => [source.series.symbol.id, source]));
  const days = tradeDatesOf(
    sources.map(({ series }) => series),
    time,
  );
  const detail = detailOf(interval);
  const lengthMs = INTRADAY_MS[detail];
  for (const stored of await ledger.intraday.stored(
    { origin, symbolIds: [...byId.keys()] },
    days,
    time,
    detail,
  )) {
    const source = byId.get(stored.symbolId)!;
    const hiddenBy = hiddenUntil(withdrawn.get(stored.symbolId)?.get(stored.day) ?? []);
    const bars = stored.bars.filter(({ at }) => at + lengthMs <= horizon && at + lengthMs > hiddenBy);
    found.get(source.series)!.set(stored.day, bars);
  }
}

/**
 * A withdrawal hides the stored bars of its day up to then, unless the day got a bar of ticks since: those ticks outlived the
 * withdrawal, and the stored bars were made of them.
 */
function hiddenUntil(versions: readonly BarRevision[]): number {
  const until = versions.at(-1)?.ticksWithdrawnUntil;
  const hidesNone = versions.some((bar) => bar.ticksWithdrawnUntil === until && isTickBar(bar));
  return until === undefined || hidesNone ? Number.NEGATIVE_INFINITY : until;
}

async function readWithdrawn(
  ledger: Ledger,
  sources: readonly IntradaySource[],
  origin: PriceOrigin,
  { time, horizon, recordedBy }: IntradayScope,
): Promise<WithdrawnDays> {
  const byId = new Map(sources.map(({ series }) => [series.symbol.id, series]));
  const range = tradeDatesOf([...byId.values()], time);
  const days = await ledger.past.withdrawnDays({ origin, symbolIds: [...byId.keys()] }, range);
  const found: WithdrawnDays = new Map();
  for (const [symbolId, own] of Map.groupBy(days, (one) => one.symbolId)) {
    const wanted = new Set(own.map(({ day }) => day));
    const market = marketOf(byId.get(symbolId)!.symbol.market);
    const span = [Math.min(...wanted), Math.max(...wanted)] as const;
    const revisions = await ledger.bars.revisions(symbolId, origin, ...span);
    const visible = revisions.filter((bar) => {
      return wanted.has(bar.day) && bar.recordedAt <= recordedBy && isBarSeen(bar, market, horizon);
    });
    found.set(
      symbolId,
      Map.groupBy(visible, ({ day }) => day),
    );
  }
  return found;
}

function priced(bar: IntradayBar, { symbol }: Series): PricedIntradayBar {
  const average = meanOfSum(bar.closeSum, bar.minutes, symbol.decimals);
  return { ...bar, average, sourceIds: [bar.sourceId] };
}
