import type { Board } from '../../board/board.ts';
import type { LatestPrice } from '../../board/series/price-types.ts';
import type { SymbolSeries } from '../../board/series/symbol-series.ts';
import type { View } from '../../board/views/view.ts';
import { type Day, printDay } from '../../market/day.ts';
import { printNumber } from '../../market/decimal.ts';
import { isTrading, marketOf } from '../../market/session.ts';
import type { UpdateInterval } from '../../market/symbol.ts';
import { datesOf, recordOf } from '../endpoints/catalog/symbols.ts';
import { isStale, printAt } from '../endpoints/rates/latest.ts';
import { sourceIdsOf, sourcesJson } from '../response/json.ts';

/** The market at a moment, as one delay shows it. */
export interface MarketMoment {
  board: Board;
  view: View;
  /** In ms. */
  now: number;
}

/** The recent closes of a symbol: those before the day of its newest price. */
export interface RecentCloses {
  /** The day of the newest price, and the first of the days in which they were looked for. */
  day: Day;
  from: Day;
  /** The view's version of the days before the newest that they were read from. */
  pastVersion: number;
  closes: readonly number[];
  /** The day of the last one. */
  lastDay: Day | undefined;
}

/** How many closes a row has, and the days in which they are looked for. */
const CLOSES_MAX = 30;
const CLOSES_WITHIN_DAYS: Readonly<Record<UpdateInterval, number>> = {
  minute: 50,
  day: 50,
  week: 250,
  month: 400,
};

/** The first of the days in which the closes before a price are looked for. */
export function closesFrom({ symbol }: SymbolSeries, { day }: LatestPrice): Day {
  return day - CLOSES_WITHIN_DAYS[symbol.updateInterval];
}

/** Reads the closes of a series whose history is loaded since `closesFrom`. */
export function readCloses(series: SymbolSeries, view: View, latest: LatestPrice): RecentCloses {
  const { day } = latest;
  const from = closesFrom(series, latest);
  const bars = view.lastBars(series, day - 1, from, CLOSES_MAX);
  const closes = bars.map(({ close }) => close);
  return { day, from, pastVersion: view.pastVersion(series), closes, lastDay: bars.at(-1)?.day };
}

/** One row of the market view without closes: the record of `/symbols` and the newest price. */
export function briefJson(series: SymbolSeries, view: View, quote: string): string {
  return `${recordOf(datesOf(series, view)).slice(0, -1)},"quote":${quote}}`;
}

/** The whole row. */
export function rowJson(brief: string, recent: RecentCloses | undefined): string {
  return `${brief.slice(0, -1)},"closes":[${(recent?.closes ?? []).map(printNumber).join(',')}]}`;
}

/** The newest price of a symbol, its close before, and whether its market is open. */
export function quoteJson(
  { board, view, now }: MarketMoment,
  series: SymbolSeries,
  latest: LatestPrice,
  recent: RecentCloses,
): string {
  const source = sourcesJson(board, sourceIdsOf([latest]));
  const before =
    recent.lastDay === undefined
      ? 'null'
      : `{"date":"${printDay(recent.lastDay)}","close":${printNumber(recent.closes.at(-1)!)}}`;
  const stale = isStale(series, latest.day, now - view.delayMs);
  const open = isTrading(marketOf(series.symbol.market), now);
  return `{"rate":${printNumber(latest.price)},"date":"${printDay(latest.day)}","at":"${printAt(latest)}","source":${source},"stale":${stale},"open":${open},"before":${before}}`;
}
