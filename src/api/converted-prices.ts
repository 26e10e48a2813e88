import type { SourcedBar } from '../board/columns.ts';
import type { Factor, Measure, Prices } from '../board/prices.ts';
import type { Series } from '../board/series.ts';
import type { LatestPrice } from '../board/strand-view.ts';
import { type Day, printDay, utcDay } from '../market/day.ts';
import { Multiplier, over, type Ratio, ratioOf, roundTo, times } from '../market/ratio.ts';
import type { Conversion, SeriesConversion } from './conversion.ts';
import { refuse } from './errors.ts';

/** How old an exchange rate may be, in days: as old as the close that stands for a closed day. */
export const RATE_DAYS_MAX = 14;

/** A factor is told to more digits than the numbers that were made with it. */
const FACTOR_DIGITS = 12;

/** Prices in another currency or unit. Each number is converted by the rate of its own day, and rounded once. */
export class ConvertedPrices implements Prices {
  readonly #prices: Prices;
  readonly #conversion: Conversion;
  readonly #now: number;
  /** The factors that were worked out, by day; a factor without an exchange has one for all days. */
  readonly #factors = new Map<SeriesConversion, Map<Day, ExactFactor>>();

  constructor(prices: Prices, conversion: Conversion, now: number) {
    this.#prices = prices;
    this.#conversion = conversion;
    this.#now = now;
  }

  get delayMs(): number {
    return this.#prices.delayMs;
  }

  measure(series: Series): Measure {
    return this.#of(series);
  }

  /** By the last rate that is known, however old the price is. */
  latest(series: Series): LatestPrice | undefined {
    const latest = this.#prices.latest(series);
    if (!latest) return undefined;
    const today = utcDay(this.#now - this.delayMs);
    const factor = factorBy(this.#of(series), (rate) => {
      const found = this.#prices.latest(rate);
      if (!found || found.day < today - RATE_DAYS_MAX || found.price <= 0) throw noRate(rate, today);
      return { rate: found.price, sourceId: found.sourceId };
    });
    return { ...latest, price: factor.apply(latest.price), factor };
  }

  firstDay(series: Series): Day | undefined {
    return this.#prices.firstDay(series);
  }

  lastDay(series: Series): Day | undefined {
    return this.#prices.lastDay(series);
  }

  barOnOrBefore(series: Series, day: Day, earliest: Day): SourcedBar | undefined {
    const bar = this.#prices.barOnOrBefore(series, day, earliest);
    return bar && this.#convert(bar, this.#of(series));
  }

  bars(series: Series, first: Day, last: Day): SourcedBar[] {
    const conversion = this.#of(series);
    return this.#prices.bars(series, first, last).map((bar) => this.#convert(bar, conversion));
  }

  #of(series: Series): SeriesConversion {
    return this.#conversion.of.get(series)!;
  }

  #convert(bar: SourcedBar, conversion: SeriesConversion): SourcedBar {
    const factor = this.#factorOn(conversion, bar.day);
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

  #factorOn(conversion: SeriesConversion, day: Day): ExactFactor {
    const known = this.#factors.getOrInsertComputed(conversion, () => new Map<Day, ExactFactor>());
    const key = conversion.from || conversion.to ? day : 0;
    return known.getOrInsertComputed(key, () =>
      factorBy(conversion, (rate) => {
        const found = this.#prices.barOnOrBefore(rate, day, day - RATE_DAYS_MAX);
        if (!found || found.close <= 0) throw noRate(rate, day);
        return { rate: found.close, sourceId: found.sourceId };
      }),
    );
  }
}

/** A factor whose text is made when it is told: most are not. */
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

/** A rate that is not above 0 is a mistake of its source, and as good as none. */
function noRate({ symbol }: Series, day: Day) {
  return refuse('no_data', { date: printDay(day), rate: symbol.code, days: RATE_DAYS_MAX });
}
