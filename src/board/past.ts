import type { Ledger } from '../ledger/ledger.ts';
import type { Day } from '../market/day.ts';
import type { SourcedBar } from './columns.ts';
import type { Measure, Prices } from './prices.ts';
import { type Shown, shownByReference } from './reference.ts';
import type { Series } from './series.ts';
import type { LatestPrice } from './strand-view.ts';

/** What was known of the market at some moment, seen with a plan's delay. */
export interface Past {
  delayMs: number;
  /** The moment that is looked from, in ms. */
  at: number;
  /** What was recorded after it is not seen, in ms. */
  recordedBy: number;
  /** Whether symbols without real prices show their simulated ones. */
  simulated: boolean;
}

/** The market as a plan saw it at some moment, read from the ledger. The slow way, for questions about the past alone. */
export class PastPrices implements Prices {
  readonly delayMs: number;
  readonly #shown: ReadonlyMap<Series, Shown>;

  private constructor(delayMs: number, shown: ReadonlyMap<Series, Shown>) {
    this.delayMs = delayMs;
    this.#shown = shown;
  }

  static async read(ledger: Ledger, series: readonly Series[], past: Past): Promise<PastPrices> {
    const { delayMs, at, recordedBy, simulated } = past;
    const shown = new Map<Series, Shown>();
    for (const one of series) {
      if (shown.has(one)) continue;
      shown.set(one, await shownByReference(ledger, one.symbol, at - delayMs, { recordedBy, simulated }));
    }
    return new PastPrices(delayMs, shown);
  }

  measure({ symbol }: Series): Measure {
    return { unit: symbol.unit.symbol, quote: symbol.currency.code };
  }

  latest(series: Series): LatestPrice | undefined {
    return this.#shown.get(series)!.latest;
  }

  firstDay(series: Series): Day | undefined {
    return this.#shown.get(series)!.bars[0]?.day;
  }

  lastDay(series: Series): Day | undefined {
    return this.#shown.get(series)!.bars.at(-1)?.day;
  }

  barOnOrBefore(series: Series, day: Day, earliest: Day): SourcedBar | undefined {
    const { bars } = this.#shown.get(series)!;
    const found = bars[firstFrom(bars, day + 1) - 1];
    return found && found.day >= earliest ? found : undefined;
  }

  bars(series: Series, first: Day, last: Day): SourcedBar[] {
    const { bars } = this.#shown.get(series)!;
    return bars.slice(firstFrom(bars, first), firstFrom(bars, last + 1));
  }
}

/** The index of the first bar that is not before `day`. */
function firstFrom(bars: readonly SourcedBar[], day: Day): number {
  let [low, high] = [0, bars.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bars[middle]!.day < day) low = middle + 1;
    else high = middle;
  }
  return low;
}
