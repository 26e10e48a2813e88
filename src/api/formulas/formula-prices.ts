import type {
  IntervalBar,
  LatestPrice,
  Measure,
  PricedIntradayBar,
  SourcedBar,
} from '../../board/series/price-types.ts';
import type { Series } from '../../board/series/series.ts';
import type { FrozenPrices, Prices, SettledRange } from '../../board/views/prices.ts';
import { type Day, printDay } from '../../market/day.ts';
import { evaluate } from '../../market/formula/evaluate.ts';
import type { Interval } from '../../market/interval.ts';
import { printInstant } from '../../market/intraday/instant.ts';
import { foldPlain } from '../conversion/fold-plain.ts';
import { refuse } from '../errors/errors.ts';
import { FormulaSeries } from './formula-series.ts';

/**
 * Prices of formulas, and of symbols as they are. A formula has a bar on the days on which all its parts have one; its four
 * prices are the value of the closes.
 */
export class FormulaPrices<P extends Prices = Prices> implements Prices {
  protected readonly prices: P;

  constructor(prices: P) {
    this.prices = prices;
  }

  get delayMs(): number {
    return this.prices.delayMs;
  }

  measure(series: Series): Measure {
    if (!(series instanceof FormulaSeries)) return this.prices.measure(series);
    return series.measure((part) => this.prices.measure(part));
  }

  /** Of the newest price of each part. It is as old as the oldest of them. */
  latest(series: Series): LatestPrice | undefined {
    if (!(series instanceof FormulaSeries)) return this.prices.latest(series);
    const found: LatestPrice[] = [];
    for (const part of series.parts) {
      const latest = this.prices.latest(part.series);
      if (!latest) return undefined;
      found.push(latest);
    }
    const price = resultOf(
      series,
      found.map((one) => one.price),
      'at the newest prices',
    );
    const times = found.map(({ at }) => at);
    return {
      price,
      day: Math.min(...found.map(({ day }) => day)),
      at: times.includes(undefined) ? undefined : Math.min(...(times as number[])),
      ...sourcesOf(found),
    };
  }

  firstDay(series: Series): Day | undefined {
    if (!(series instanceof FormulaSeries)) return this.prices.firstDay(series);
    return this.#ofParts(series, (part) => this.prices.firstDay(part), Math.max);
  }

  lastDay(series: Series): Day | undefined {
    if (!(series instanceof FormulaSeries)) return this.prices.lastDay(series);
    return this.#ofParts(series, (part) => this.prices.lastDay(part), Math.min);
  }

  /** Steps back until all parts have a bar on the same day. */
  barOnOrBefore(series: Series, day: Day, earliest: Day): SourcedBar | undefined {
    if (!(series instanceof FormulaSeries)) return this.prices.barOnOrBefore(series, day, earliest);
    for (let common = day; ; ) {
      const bars: SourcedBar[] = [];
      for (const part of series.parts) {
        const bar = this.prices.barOnOrBefore(part.series, common, earliest);
        if (!bar) return undefined;
        bars.push(bar);
      }
      const first = Math.min(...bars.map((bar) => bar.day));
      if (bars.every((bar) => bar.day === first)) return barOf(series, bars);
      common = first;
    }
  }

  bars(series: Series, first: Day, last: Day): SourcedBar[] {
    if (!(series instanceof FormulaSeries)) return this.prices.bars(series, first, last);
    const [shortest, ...others] = series.parts.map((part) => this.prices.bars(part.series, first, last));
    const byDay = others.map((bars) => new Map(bars.map((bar) => [bar.day, bar])));
    const found: SourcedBar[] = [];
    for (const bar of shortest!) {
      const bars = [bar, ...byDay.map((map) => map.get(bar.day))];
      if (!bars.includes(undefined)) found.push(barOf(series, bars as SourcedBar[]));
    }
    return found;
  }

  fold(series: Series, first: Day, last: Day, interval: Interval): IntervalBar[] {
    if (!(series instanceof FormulaSeries) && this.prices.fold) {
      return this.prices.fold(series, first, last, interval);
    }
    return foldPlain(this.bars(series, first, last), interval, series.symbol.decimals);
  }

  settled(series: Series, first: Day, last: Day): SettledRange | undefined {
    return series instanceof FormulaSeries ? undefined : this.prices.settled?.(series, first, last);
  }

  /** The value of the closes of each interval in which all parts have one. */
  intraday(series: Series): PricedIntradayBar[] {
    const { prices } = this;
    if (!(series instanceof FormulaSeries)) return prices.intraday!(series);
    const [own, ...others] = series.parts.map((part) => prices.intraday!(part.series));
    const byTime = others.map((bars) => new Map(bars.map((bar) => [bar.at, bar])));
    return own!.flatMap((bar) => {
      const bars = [bar, ...byTime.map((map) => map.get(bar.at))];
      return bars.includes(undefined) ? [] : [intradayOf(series, bars as PricedIntradayBar[])];
    });
  }

  freeze(series: readonly Series[]): FrozenPrices | undefined {
    const parts = series.flatMap((one) =>
      one instanceof FormulaSeries ? one.parts.map((part) => part.series) : [one],
    );
    const frozen = this.prices.freeze?.([...new Set(parts)]);
    return frozen && new FrozenFormulaPrices(frozen);
  }

  #ofParts(
    { parts }: FormulaSeries,
    dayOf: (part: Series) => Day | undefined,
    choose: (...days: Day[]) => Day,
  ): Day | undefined {
    const days = parts.map(({ series }) => dayOf(series));
    return days.includes(undefined) ? undefined : choose(...(days as Day[]));
  }
}

/** Formulas over immutable prices. */
class FrozenFormulaPrices extends FormulaPrices<FrozenPrices> implements FrozenPrices {
  days(series: Series, first: Day, last: Day): Int32Array {
    if (!(series instanceof FormulaSeries)) return this.prices.days(series, first, last);
    const [own, ...others] = series.parts.map((part) => this.prices.days(part.series, first, last));
    const sets = others.map((days) => new Set(days));
    return own!.filter((day) => sets.every((days) => days.has(day)));
  }

  /** Also throws if the formula divides by zero on one of the days: nothing can be refused later. */
  requireComplete(series: Series, first: Day, last: Day): void {
    const isFormula = series instanceof FormulaSeries;
    const parts = isFormula ? series.parts.map((part) => part.series) : [series];
    for (const part of parts) this.prices.requireComplete(part, first, last);
    if (isFormula && series.formula.text.includes('/')) this.bars(series, first, last);
  }

  digest(series: Series, first: Day, last: Day): bigint {
    if (!(series instanceof FormulaSeries)) return this.prices.digest(series, first, last);
    const parts = series.parts.map((part) => this.prices.digest(part.series, first, last));
    return Bun.hash.xxHash3([series.formula.text, ...parts].join('\n'));
  }
}

function barOf(series: FormulaSeries, bars: readonly SourcedBar[]): SourcedBar {
  const { day } = bars[0]!;
  const value = resultOf(
    series,
    bars.map(({ close }) => close),
    `on ${printDay(day)}`,
  );
  return { day, open: value, high: value, low: value, close: value, ...sourcesOf(bars) };
}

function intradayOf(series: FormulaSeries, bars: readonly PricedIntradayBar[]): PricedIntradayBar {
  const { at, day, sourceId } = bars[0]!;
  const value = resultOf(
    series,
    bars.map(({ close }) => close),
    `in the interval from ${printInstant(at)}`,
  );
  const ohlc = { open: value, high: value, low: value, close: value };
  const sourceIds = [...new Set(bars.flatMap((bar) => bar.sourceIds))];
  return { at, day, ...ohlc, sourceId, minutes: 1, closeSum: value, average: value, sourceIds };
}

/** The values are those of the parts, in their order. `when` says in a message which prices they are. */
function resultOf({ formula }: FormulaSeries, values: readonly number[], when: string): number {
  const value = evaluate(formula.expression, (code) => values[formula.codes.indexOf(code)]!);
  if (value !== undefined) return value;
  throw refuse('invalid_formula', { received: formula.text, problem: `it divides by zero ${when}` });
}

/** The source of the first part, and those of the others. */
function sourcesOf(parts: readonly { sourceId: number; factor?: { sourceIds: readonly number[] } }[]) {
  const [first, ...others] = parts.flatMap(({ sourceId, factor }) => [
    sourceId,
    ...(factor?.sourceIds ?? []),
  ]);
  return { sourceId: first!, otherSourceIds: others };
}
