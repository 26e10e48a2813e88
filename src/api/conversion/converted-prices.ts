import type {
  Factor,
  IntervalBar,
  LatestPrice,
  Measure,
  PricedIntradayBar,
  SourcedBar,
} from '../../board/series/price-types.ts';
import type { Series } from '../../board/series/series.ts';
import type { FrozenPrices, Prices } from '../../board/views/prices.ts';
import { type Day, printDay, utcDay } from '../../market/day.ts';
import type { Interval } from '../../market/interval.ts';
import {
  CONVERTED_DIGITS,
  Multiplier,
  over,
  type Ratio,
  ratioOf,
  roundTo,
  times,
} from '../../market/ratio.ts';
import { BoundedCache } from '../../runtime/bounded-cache.ts';
import { type Refusal, refuse } from '../errors/errors.ts';
import type { Conversion, SeriesConversion } from '../model/price-query.ts';
import { foldConverted } from './fold-converted.ts';

/** Maximum age of an exchange rate: the same as for the close that stands in for a closed day. */
export const RATE_DAYS_MAX = 14;

/** Factors are reported with more digits than the prices converted with them. */
const FACTOR_DIGITS = 12;

/** Enough for a page of days. A longer response reads its days in order and never returns to an earlier one. */
const FACTORS_BYTES_MAX = 2 * 1024 * 1024;
/** Measured: a factor with its numbers of any length. */
const FACTOR_BYTES = 300;

/** Prices in another currency or unit. Each price is converted at the rate of its own day, and rounded once. */
export class ConvertedPrices<P extends Prices = Prices> implements Prices {
  protected readonly prices: P;
  protected readonly conversion: Conversion;
  readonly #now: number;
  /** Factors by day. Without an exchange rate, a single factor under day 0 applies to all days. */
  readonly #factors = new Map<SeriesConversion, BoundedCache<Day, ExactFactor>>();

  constructor(prices: P, conversion: Conversion, now: number) {
    this.prices = prices;
    this.conversion = conversion;
    this.#now = now;
  }

  get delayMs(): number {
    return this.prices.delayMs;
  }

  get isPartial(): boolean {
    return this.prices.isPartial;
  }

  measure(series: Series): Measure {
    return this.conversionOf(series);
  }

  /** Converts at the latest known rate, regardless of the age of the price. */
  latest(series: Series): LatestPrice | undefined {
    const latest = this.prices.latest(series);
    if (!latest) return undefined;
    const today = utcDay(this.#now - this.delayMs);
    const factor = factorBy(this.conversionOf(series), (rate) => {
      const found = this.prices.latest(rate);
      if (!found || found.day < today - RATE_DAYS_MAX || found.price <= 0) throw this.noRate(rate, today);
      return { rate: found.price, sourceId: found.sourceId };
    });
    return { ...latest, price: factor.apply(latest.price), factor };
  }

  firstDay(series: Series): Day | undefined {
    return this.prices.firstDay(series);
  }

  lastDay(series: Series): Day | undefined {
    return this.prices.lastDay(series);
  }

  barOnOrBefore(series: Series, day: Day, earliest: Day): SourcedBar | undefined {
    const bar = this.prices.barOnOrBefore(series, day, earliest);
    return bar && convert(bar, this.#factorsOf(series)(bar.day));
  }

  bars(series: Series, first: Day, last: Day): SourcedBar[] {
    const factorOn = this.#factorsOf(series);
    return this.prices.bars(series, first, last).map((bar) => convert(bar, factorOn(bar.day)));
  }

  fold(series: Series, first: Day, last: Day, interval: Interval): IntervalBar[] {
    return foldConverted(
      this.prices.bars(series, first, last),
      this.#factorsOf(series),
      interval,
      series.symbol.decimals,
    );
  }

  intraday(series: Series): PricedIntradayBar[] {
    const factorOn = this.#factorsOf(series);
    return this.prices.intraday!(series).map((bar) => convertIntraday(bar, factorOn(bar.day)));
  }

  freeze(series: readonly Series[]): FrozenPrices | undefined {
    const frozen = this.prices.freeze?.([...series, ...this.conversion.rates]);
    return frozen && new FrozenConvertedPrices(frozen, this.conversion, this.#now);
  }

  protected conversionOf(series: Series): SeriesConversion {
    return this.conversion.bySeries.get(series)!;
  }

  /** Returns the function that gives the factor of a series on each day. */
  #factorsOf(series: Series): (day: Day) => ExactFactor {
    const conversion = this.conversionOf(series);
    const known = this.#factors.getOrInsertComputed(
      conversion,
      () => new BoundedCache<Day, ExactFactor>({ bytesMax: FACTORS_BYTES_MAX }),
    );
    const isFixed = !conversion.from && !conversion.to;
    return (day) => {
      const key = isFixed ? 0 : day;
      const found = known.get(key);
      if (found) return found;
      const factor = factorBy(conversion, (rate) => this.#rateOn(rate, day));
      known.set(key, factor, FACTOR_BYTES);
      return factor;
    };
  }

  /** Also used for rates of 0 or less, which are errors of their source. */
  protected noRate(rate: Series, day: Day): Refusal {
    const [first, last] = [this.prices.firstDay(rate), this.prices.lastDay(rate)];
    const needed = [...this.conversion.bySeries].filter(([, { from, to }]) => from === rate || to === rate);
    return refuse('no_data', {
      date: printDay(day),
      rate: rate.symbol.code,
      days: RATE_DAYS_MAX,
      symbols: needed.map(([{ symbol }]) => symbol.code),
      ...(first !== undefined && first > day && { firstDate: printDay(first) }),
      ...(last !== undefined && last < day && { lastDate: printDay(last) }),
    });
  }

  #rateOn(rate: Series, day: Day): { rate: number; sourceId: number } {
    const found = this.prices.barOnOrBefore(rate, day, day - RATE_DAYS_MAX);
    if (!found || found.close <= 0) throw this.noRate(rate, day);
    return { rate: found.close, sourceId: found.sourceId };
  }
}

function convert(bar: SourcedBar, factor: ExactFactor): SourcedBar {
  return {
    day: bar.day,
    open: factor.apply(bar.open),
    high: factor.apply(bar.high),
    low: factor.apply(bar.low),
    close: factor.apply(bar.close),
    sourceId: bar.sourceId,
    factor,
  };
}

function convertIntraday(bar: PricedIntradayBar, factor: ExactFactor): PricedIntradayBar {
  const sum = times(ratioOf(bar.closeSum), factor.ratio);
  const mean = { ...sum, denominator: sum.denominator * BigInt(bar.minutes) };
  return {
    ...bar,
    open: factor.apply(bar.open),
    high: factor.apply(bar.high),
    low: factor.apply(bar.low),
    close: factor.apply(bar.close),
    average: factor.isOne ? bar.average : Number(roundTo(mean, CONVERTED_DIGITS)),
    factor,
    sourceIds: [...new Set([...bar.sourceIds, ...factor.sourceIds])],
  };
}

interface Gap {
  first: Day;
  last: Day;
}

/** Converted prices over immutable prices. */
class FrozenConvertedPrices extends ConvertedPrices<FrozenPrices> implements FrozenPrices {
  /** By exchange rate and range of days: all series that use the rate share the result. */
  readonly #rateDigests = new Map<Series, Map<string, bigint>>();
  readonly #gaps = new Map<Series, Map<string, Gap[]>>();

  days(series: Series, first: Day, last: Day): Int32Array {
    return this.prices.days(series, first, last);
  }

  digest(series: Series, first: Day, last: Day): bigint {
    const { unit, quote, constant, from, to } = this.conversionOf(series);
    const rates = [from, to].map((rate) => rate && this.#rateDigest(rate, first, last));
    const { numerator, denominator } = constant;
    const bars = this.prices.digest(series, first, last);
    return Bun.hash.xxHash3([bars, ...rates, numerator, denominator, unit, quote].join('\n'));
  }

  #rateDigest(rate: Series, first: Day, last: Day): bigint {
    return this.#rateDigests
      .getOrInsertComputed(rate, () => new Map<string, bigint>())
      .getOrInsertComputed(`${first} ${last}`, () => this.prices.digest(rate, first - RATE_DAYS_MAX, last));
  }

  requireComplete(series: Series, first: Day, last: Day): void {
    const { from, to } = this.conversionOf(series);
    for (const rate of [from, to]) {
      for (const gap of rate ? this.#gapsOf(rate, first, last) : []) {
        const [day] = this.days(series, gap.first, gap.last);
        if (day !== undefined) throw this.noRate(rate!, day);
      }
    }
  }

  /** The spans of days between `first` and `last` without an exchange rate. */
  #gapsOf(rate: Series, first: Day, last: Day): Gap[] {
    return this.#gaps
      .getOrInsertComputed(rate, () => new Map<string, Gap[]>())
      .getOrInsertComputed(`${first} ${last}`, () => this.#findGaps(rate, first, last));
  }

  #findGaps(rate: Series, first: Day, last: Day): Gap[] {
    const gaps: Gap[] = [];
    let start = first;
    for (const { day, close } of this.prices.bars(rate, first - RATE_DAYS_MAX, last)) {
      if (day > start) gaps.push({ first: start, last: day - 1 });
      start = Math.max(first, close > 0 ? day + RATE_DAYS_MAX + 1 : day);
    }
    if (start <= last) gaps.push({ first: start, last });
    return gaps;
  }
}

/** A factor that formats its text on demand, because most are never printed. */
class ExactFactor extends Multiplier implements Factor {
  readonly sourceIds: readonly number[];
  #text: string | undefined;

  constructor(ratio: Ratio, sourceIds: readonly number[]) {
    super(ratio);
    this.sourceIds = sourceIds;
  }

  get text(): string {
    this.#text ??= roundTo(this.ratio, FACTOR_DIGITS);
    return this.#text;
  }
}

function factorBy(
  { constant, from, to }: SeriesConversion,
  rateOf: (series: Series) => { rate: number; sourceId: number },
): ExactFactor {
  const sourceIds: number[] = [];
  let ratio = constant;
  if (from) {
    const { rate, sourceId } = rateOf(from);
    ratio = over(ratio, ratioOf(rate));
    sourceIds.push(sourceId);
  }
  if (to) {
    const { rate, sourceId } = rateOf(to);
    ratio = times(ratio, ratioOf(rate));
    sourceIds.push(sourceId);
  }
  return new ExactFactor(ratio, sourceIds);
}
