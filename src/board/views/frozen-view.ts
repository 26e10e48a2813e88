import type { Day } from '../../market/day.ts';
import type { Columns } from '../series/bars/columns.ts';
import { FrozenBars } from '../series/bars/frozen-bars.ts';
import { NotLoaded } from '../series/load/load-level.ts';
import type { LatestPrice, Measure, SourcedBar } from '../series/price-types.ts';
import type { Series } from '../series/series.ts';
import { mergeBars, newestBar, settledIn } from './merge-bars.ts';
import type { FrozenPrices, SettledHistory, SettledRange } from './prices.ts';

/** A snapshot of what a view shows of one series. */
export interface FrozenSeries {
  measure: Measure;
  latest: LatestPrice | undefined;
  firstDay: Day | undefined;
  lastDay: Day | undefined;
  bars: FrozenBars;
  /** The days on which the view differs from `bars`, ascending. */
  overlay: readonly SourcedBar[];
  /** The history that `bars` is a snapshot of, and its version at that time. */
  snapshotOf?: { columns: Columns; version: number };
}

/** An immutable snapshot of a view of some series. */
export class FrozenView implements FrozenPrices {
  readonly delayMs: number;
  readonly isPartial = false;
  readonly #series: ReadonlyMap<Series, FrozenSeries>;

  constructor(delayMs: number, series: ReadonlyMap<Series, FrozenSeries>) {
    this.delayMs = delayMs;
    this.#series = series;
  }

  freeze(): FrozenPrices {
    return this;
  }

  measure(series: Series): Measure {
    return this.#of(series).measure;
  }

  latest(series: Series): LatestPrice | undefined {
    return this.#of(series).latest;
  }

  firstDay(series: Series): Day | undefined {
    return this.#of(series).firstDay;
  }

  lastDay(series: Series): Day | undefined {
    return this.#of(series).lastDay;
  }

  barOnOrBefore(series: Series, day: Day, earliest: Day): SourcedBar | undefined {
    const { bars, overlay } = this.#from(earliest, series);
    return newestBar(bars, overlay, day, earliest);
  }

  bars(series: Series, first: Day, last: Day): SourcedBar[] {
    const { bars, overlay } = this.#from(first, series);
    return mergeBars(bars, overlay, first, last);
  }

  /** Undefined once the history has changed. Read the result before the next `await`. */
  settled(series: Series, first: Day, last: Day): SettledRange | undefined {
    const { snapshotOf, overlay } = this.#from(first, series);
    if (!snapshotOf || snapshotOf.columns.version !== snapshotOf.version) return undefined;
    return settledIn(snapshotOf.columns, overlay, first, last);
  }

  settledHistory(series: Series): SettledHistory {
    const { bars, overlay } = this.#from(Number.NEGATIVE_INFINITY, series);
    return { bars, lastDay: overlay.length > 0 ? overlay[0]!.day - 1 : Number.POSITIVE_INFINITY };
  }

  days(series: Series, first: Day, last: Day): Int32Array {
    const { bars, overlay } = this.#from(first, series);
    if (!overlay.some(({ day }) => day >= first && day <= last)) {
      return bars.days(bars.firstFrom(first), bars.firstFrom(last + 1));
    }
    return Int32Array.from(mergeBars(bars, overlay, first, last), ({ day }) => day);
  }

  requireComplete(): void {}

  digest(series: Series, first: Day, last: Day): bigint {
    const { bars, overlay } = this.#from(first, series);
    const settled = bars.digest(bars.firstFrom(first), bars.firstFrom(last + 1));
    const unsettled = overlay.filter(({ day }) => day >= first && day <= last);
    return unsettled.length === 0 ? settled : Bun.hash.xxHash3(`${settled} ${digestOf(unsettled)}`);
  }

  #of(series: Series): FrozenSeries {
    return this.#series.get(series)!;
  }

  /** To be read from this day on. */
  #from(day: Day, series: Series): FrozenSeries {
    const frozen = this.#of(series);
    if (frozen.snapshotOf && day < frozen.snapshotOf.columns.from) throw new NotLoaded(series.symbol.code);
    return frozen;
  }
}

function digestOf(bars: readonly SourcedBar[]): bigint {
  const numbers = bars.flatMap((bar) => [bar.day, bar.open, bar.high, bar.low, bar.close, bar.sourceId]);
  return Bun.hash.xxHash3(Float64Array.from(numbers));
}

export const NO_BARS = new FrozenBars(
  { days: new Int32Array(), prices: new Float64Array(), sources: new Int32Array() },
  0,
);
