import { type FormulaKind, FormulaSeries } from '../../board/series/formula-series.ts';
import type {
  IntervalBar,
  LatestPrice,
  Measure,
  PricedIntradayBar,
  SourcedBar,
} from '../../board/series/price-types.ts';
import type { Series } from '../../board/series/series.ts';
import type { FrozenPrices, Prices, SettledRange } from '../../board/views/prices.ts';
import type { Day } from '../../market/day.ts';
import { evaluate } from '../../market/formula/evaluate.ts';
import type { Interval } from '../../market/interval.ts';
import { foldPlain } from '../conversion/fold-plain.ts';
import { refuse } from '../errors/errors.ts';

/**
 * Prices of the formulas of one kind, and all others as they are. A formula has a bar on the days on which all its parts have
 * one; its four prices are the value of the closes. A day on which it divides by zero or is too large has no bar.
 */
export class FormulaPrices<P extends Prices = Prices> implements Prices {
  protected readonly prices: P;
  protected readonly kind: FormulaKind;

  constructor(prices: P, kind: FormulaKind) {
    this.prices = prices;
    this.kind = kind;
  }

  protected isFormula(series: Series): series is FormulaSeries {
    return series instanceof FormulaSeries && series.kind === this.kind;
  }

  get delayMs(): number {
    return this.prices.delayMs;
  }

  get isPartial(): boolean {
    return this.prices.isPartial;
  }

  measure(series: Series): Measure {
    if (!this.isFormula(series)) return this.prices.measure(series);
    return series.measure((part) => this.prices.measure(part));
  }

  /** Of the newest price of each part. It is as old as the oldest of them. */
  latest(series: Series): LatestPrice | undefined {
    if (!this.isFormula(series)) return this.prices.latest(series);
    const found: LatestPrice[] = [];
    for (const part of series.parts) {
      const latest = this.prices.latest(part.series);
      if (!latest) return undefined;
      found.push(latest);
    }
    const price = resultOf(
      series,
      found.map((one) => one.price),
    );
    if (price === undefined) {
      const problem = 'it divides by zero at the newest prices, or its value is too large';
      const advice = 'Other days may have a value: see /rates/history.';
      throw refuse('invalid_formula', { received: series.symbol.code, problem, advice });
    }
    const times = found.map(({ at }) => at);
    return {
      price,
      day: Math.min(...found.map(({ day }) => day)),
      at: times.includes(undefined) ? undefined : Math.min(...(times as number[])),
      ...sourcesOf(found),
    };
  }

  /** No earlier day has a bar. The symbols may have different calendars: see `knownDays`. */
  firstDay(series: Series): Day | undefined {
    if (!this.isFormula(series)) return this.prices.firstDay(series);
    return this.#ofParts(series, (part) => this.prices.firstDay(part), Math.max);
  }

  /** No later day has a bar. */
  lastDay(series: Series): Day | undefined {
    if (!this.isFormula(series)) return this.prices.lastDay(series);
    return this.#ofParts(series, (part) => this.prices.lastDay(part), Math.min);
  }

  /** Steps back until all parts have a bar on the same day. */
  barOnOrBefore(series: Series, day: Day, earliest: Day): SourcedBar | undefined {
    if (!this.isFormula(series)) return this.prices.barOnOrBefore(series, day, earliest);
    for (let common = day; ; ) {
      const bars: SourcedBar[] = [];
      for (const part of series.parts) {
        const bar = this.prices.barOnOrBefore(part.series, common, earliest);
        if (!bar) return undefined;
        bars.push(bar);
      }
      const first = Math.min(...bars.map((bar) => bar.day));
      const isCommon = bars.every((bar) => bar.day === first);
      const own = isCommon ? barOf(series, bars) : undefined;
      if (own) return own;
      common = isCommon ? first - 1 : first;
    }
  }

  bars(series: Series, first: Day, last: Day): SourcedBar[] {
    if (!this.isFormula(series)) return this.prices.bars(series, first, last);
    const [shortest, ...others] = series.parts.map((part) => this.prices.bars(part.series, first, last));
    const byDay = others.map((bars) => new Map(bars.map((bar) => [bar.day, bar])));
    const found: SourcedBar[] = [];
    for (const bar of shortest!) {
      const bars = [bar, ...byDay.map((map) => map.get(bar.day))];
      const own = bars.includes(undefined) ? undefined : barOf(series, bars as SourcedBar[]);
      if (own) found.push(own);
    }
    return found;
  }

  fold(series: Series, first: Day, last: Day, interval: Interval): IntervalBar[] {
    if (!this.isFormula(series) && this.prices.fold) {
      return this.prices.fold(series, first, last, interval);
    }
    return foldPlain(this.bars(series, first, last), interval, series.symbol.decimals);
  }

  settled(series: Series, first: Day, last: Day): SettledRange | undefined {
    return this.isFormula(series) ? undefined : this.prices.settled?.(series, first, last);
  }

  /** The value of the closes of each interval in which all parts have one. */
  intraday(series: Series): PricedIntradayBar[] {
    const { prices } = this;
    if (!this.isFormula(series)) return prices.intraday!(series);
    const [own, ...others] = series.parts.map((part) => prices.intraday!(part.series));
    const byTime = others.map((bars) => new Map(bars.map((bar) => [bar.at, bar])));
    return own!.flatMap((bar) => {
      const bars = [bar, ...byTime.map((map) => map.get(bar.at))];
      const own = bars.includes(undefined) ? undefined : intradayOf(series, bars as PricedIntradayBar[]);
      return own ? [own] : [];
    });
  }

  freeze(series: readonly Series[]): FrozenPrices | undefined {
    const parts = series.flatMap((one) =>
      this.isFormula(one) ? one.parts.map((part) => part.series) : [one],
    );
    const frozen = this.prices.freeze?.([...new Set(parts)]);
    return frozen && new FrozenFormulaPrices(frozen, this.kind);
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
    if (!this.isFormula(series)) return this.prices.days(series, first, last);
    const [own, ...others] = series.parts.map((part) => this.prices.days(part.series, first, last));
    return others.reduce(commonDays, own!);
  }

  requireComplete(series: Series, first: Day, last: Day): void {
    const parts = this.isFormula(series) ? series.parts.map((part) => part.series) : [series];
    for (const part of parts) this.prices.requireComplete(part, first, last);
  }

  digest(series: Series, first: Day, last: Day): bigint {
    if (!this.isFormula(series)) return this.prices.digest(series, first, last);
    const parts = series.parts.map((part) => this.prices.digest(part.series, first, last));
    return Bun.hash.xxHash3([series.formula.text, ...parts].join('\n'));
  }
}

/** The days in both lists, which are ascending. */
function commonDays(some: Int32Array, others: Int32Array): Int32Array {
  let i = 0;
  return some.filter((day) => {
    while (others[i]! < day) i++;
    return others[i] === day;
  });
}

function barOf(series: FormulaSeries, bars: readonly SourcedBar[]): SourcedBar | undefined {
  const value = resultOf(
    series,
    bars.map(({ close }) => close),
  );
  const { day } = bars[0]!;
  if (value === undefined) return undefined;
  return { day, open: value, high: value, low: value, close: value, ...sourcesOf(bars) };
}

function intradayOf(
  series: FormulaSeries,
  bars: readonly PricedIntradayBar[],
): PricedIntradayBar | undefined {
  const value = resultOf(
    series,
    bars.map(({ close }) => close),
  );
  if (value === undefined) return undefined;
  const { at, day, sourceId } = bars[0]!;
  const ohlc = { open: value, high: value, low: value, close: value };
  const sourceIds = [...new Set(bars.flatMap((bar) => bar.sourceIds))];
  return { at, day, ...ohlc, sourceId, minutes: 1, closeSum: value, average: value, sourceIds };
}

/** The prices are those of the parts, in their order. Undefined if the formula has no value. */
function resultOf({ formula }: FormulaSeries, prices: readonly number[]): number | undefined {
  return evaluate(formula.expression, (code) => prices[formula.codes.indexOf(code)]!);
}

/** The source of the first part, and those of the others. */
function sourcesOf(parts: readonly { sourceId: number; factor?: { sourceIds: readonly number[] } }[]) {
  const [first, ...others] = parts.flatMap(({ sourceId, factor }) => [
    sourceId,
    ...(factor?.sourceIds ?? []),
  ]);
  return { sourceId: first!, otherSourceIds: others };
}
