import type { Ledger } from '../../ledger/ledger.ts';
import type { CountedDay, DayRange } from '../../ledger/prices/past.ts';
import type { PriceOrigin } from '../../ledger/symbols/origin.ts';
import { ohlcOf } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import type { IntradayInterval, TimeRange } from '../../market/intraday/interval.ts';
import { hasEnded, marketOf } from '../../market/session.ts';
import { Columns } from '../series/bars/columns.ts';
import type { Measure, PricedIntradayBar, SourcedBar } from '../series/price-types.ts';
import type { Series } from '../series/series.ts';
import type { Prices } from '../views/prices.ts';
import { firstIntradayDays, type IntradaySource, loadIntraday, nextIntraday } from './load-intraday.ts';
import { type PastMoment, type VisibleHistory, visibleHistories } from './visible-history.ts';

/** The days of a series that a request reads. */
export interface SeriesRange extends DayRange {
  series: Series;
}

/** Symbols times days per statement. It bounds the rows in memory. */
const SYMBOL_DAYS_PER_READ = 50_000;

/**
 * The market as a plan saw it at a moment in the past, read from the ledger, many symbols at once. It has only the days that were
 * loaded. A property test compares it with `visible-prices.ts`.
 */
export class PastPrices implements Prices {
  readonly delayMs: number;
  readonly isPartial = true;
  readonly #ledger: Ledger;
  readonly #moment: PastMoment;
  readonly #histories: ReadonlyMap<Series, VisibleHistory>;
  readonly #columns = new Map<Series, Columns>();
  #intraday: ReadonlyMap<Series, PricedIntradayBar[]> = new Map();

  private constructor(ledger: Ledger, moment: PastMoment, histories: ReadonlyMap<Series, VisibleHistory>) {
    this.delayMs = moment.delayMs;
    this.#ledger = ledger;
    this.#moment = moment;
    this.#histories = histories;
  }

  static async open(ledger: Ledger, series: readonly Series[], moment: PastMoment): Promise<PastPrices> {
    const distinct = [...new Set(series)];
    return new PastPrices(ledger, moment, await visibleHistories(ledger, distinct, moment));
  }

  /** Loads the bars of these ranges. Days that were loaded before are read again. */
  async load(ranges: readonly SeriesRange[]): Promise<void> {
    const visible = ranges.flatMap((range) => {
      const history = this.#histories.get(range.series);
      const first = history ? Math.max(range.first, history.firstDay) : 0;
      return history && first <= range.last ? [{ ...range, first, history }] : [];
    });
    const byRange = Map.groupBy(visible, ({ history, first, last }) => `${history.origin} ${first} ${last}`);
    for (const group of byRange.values()) {
      const days = { first: group[0]!.first, last: group[0]!.last };
      const perRead = Math.max(1, Math.floor(SYMBOL_DAYS_PER_READ / (days.last - days.first + 1)));
      for (let i = 0; i < group.length; i += perRead) {
        const series = group.slice(i, i + perRead).map((range) => range.series);
        await this.#loadBars(series, group[0]!.history.origin, days);
      }
    }
    await this.#loadTicks(visible);
  }

  /** Forgets what was loaded, for a reader that goes through more days than fit into memory. */
  forget(): void {
    this.#columns.clear();
  }

  /** Loads the bars of an interval that start within a time range, in place of those loaded before. */
  async loadIntraday(series: readonly Series[], time: TimeRange, interval: IntradayInterval): Promise<void> {
    const { horizon, recordedBy } = this.#moment;
    const scope = { time, interval, horizon, recordedBy };
    this.#intraday = await loadIntraday(this.#ledger, this.#intradaySources(series), scope);
  }

  /** Before this time, and from `from` on, none of these series has an intraday bar. Undefined if none has a later one. */
  nextIntraday(
    series: readonly Series[],
    from: number,
    interval: IntradayInterval,
  ): Promise<number | undefined> {
    return nextIntraday(this.#ledger, this.#intradaySources(series), from, interval);
  }

  /** The first trade date with intraday bars of each of these series that has any. */
  firstIntradayDays(
    series: readonly Series[],
    interval: IntradayInterval,
  ): Promise<ReadonlyMap<Series, Day>> {
    return firstIntradayDays(this.#ledger, this.#intradaySources(series), interval);
  }

  #intradaySources(series: readonly Series[]): IntradaySource[] {
    const sources: IntradaySource[] = [];
    for (const one of new Set(series)) {
      const history = this.#histories.get(one);
      if (history) sources.push({ series: one, history });
    }
    return sources;
  }

  intraday(series: Series): PricedIntradayBar[] {
    return this.#intraday.get(series) ?? [];
  }

  measure({ symbol }: Series): Measure {
    return { unit: symbol.unit.symbol, quote: symbol.currency.code };
  }

  latest(): never {
    throw new Error('the latest price as of a moment is not supported');
  }

  lastDay(series: Series): Day | undefined {
    return this.#histories.get(series)?.lastDay;
  }

  firstDay(series: Series): Day | undefined {
    return this.#histories.get(series)?.firstDay;
  }

  barOnOrBefore(series: Series, day: Day, earliest: Day): SourcedBar | undefined {
    const columns = this.#columns.get(series);
    const index = columns ? columns.firstFrom(day + 1) - 1 : -1;
    return index >= 0 && columns!.day(index) >= earliest ? columns!.bar(index) : undefined;
  }

  bars(series: Series, first: Day, last: Day): SourcedBar[] {
    const columns = this.#columns.get(series);
    const bars: SourcedBar[] = [];
    if (!columns) return bars;
    for (let i = columns.firstFrom(first); i < columns.length && columns.day(i) <= last; i++) {
      bars.push(columns.bar(i));
    }
    return bars;
  }

  async #loadBars(series: readonly Series[], origin: PriceOrigin, days: DayRange): Promise<void> {
    const { horizon, recordedBy } = this.#moment;
    const symbolIds = series.map(({ symbol }) => symbol.id);
    const rows = await this.#ledger.past.bars({ origin, symbolIds }, days, recordedBy);
    const byId = new Map(series.map((one) => [one.symbol.id, one]));
    let current: Series | undefined;
    let columns = new Columns();
    for (const [symbolId, day, open, high, low, close, sourceId, recordedAt, withdrawn] of rows) {
      if (current?.symbol.id !== symbolId) {
        current = byId.get(symbolId)!;
        columns = this.#columnsOf(current);
      }
      if (Number(recordedAt) > horizon && !hasEnded(marketOf(current.symbol.market), day, horizon)) continue;
      if (withdrawn > 0) columns.remove(day);
      else columns.set(day, { open, high, low, close }, sourceId);
    }
  }

  /** A day without a bar gets the fold of its ticks. */
  async #loadTicks(ranges: readonly (SeriesRange & { history: VisibleHistory })[]): Promise<void> {
    for (const origin of ['real', 'simulated'] as const) {
      const days: CountedDay[] = [];
      const byId = new Map<number, Series>();
      for (const { series, first, last, history } of ranges) {
        if (history.origin !== origin) continue;
        byId.set(series.symbol.id, series);
        for (const counted of history.tickDays) {
          const { day } = counted;
          if (day >= first && day <= last && !this.barOnOrBefore(series, day, day)) days.push(counted);
        }
      }
      for (const { symbolId, day, fold } of await this.#ledger.past.foldTicks(
        days,
        origin,
        this.#moment.horizon,
      )) {
        this.#columnsOf(byId.get(symbolId)!).set(day, ohlcOf(fold), fold.close.sourceId);
      }
    }
  }

  #columnsOf(series: Series): Columns {
    return this.#columns.getOrInsertComputed(series, () => new Columns());
  }
}
