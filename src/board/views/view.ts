import type { Day } from '../../market/day.ts';
import type { Columns } from '../series/bars/columns.ts';
import { NotLoaded } from '../series/load/load-level.ts';
import type { PriceHistory } from '../series/price-history.ts';
import type { LatestPrice, Measure, SourcedBar } from '../series/price-types.ts';
import type { SymbolSeries } from '../series/symbol-series.ts';
import { type FrozenSeries, FrozenView, NO_BARS } from './frozen-view.ts';
import { mergeBars, newestBar, settledIn } from './merge-bars.ts';
import type { Prices, SettledRange } from './prices.ts';

/** The market as a plan with a certain delay sees it. Series must be loaded before they are read. */
export class View implements Prices {
  readonly delayMs: number;
  readonly isPartial = false;
  /** Its index among the views of every series. It changes when a delay is added. */
  index: number;
  /** For series of which only the dates are loaded: it shows what was recorded by this time. */
  horizon = Number.NEGATIVE_INFINITY;

  constructor(delayMs: number, index: number) {
    this.delayMs = delayMs;
    this.index = index;
  }

  /** Changes whenever this view shows something else of the series. */
  version(series: SymbolSeries): number {
    return series.versions[this.index]!;
  }

  /** Changes whenever this view shows something else of the days that `hasPassed`. */
  pastVersion(series: SymbolSeries): number {
    return series.pastVersions[this.index]!;
  }

  /** Whether this view has shown a later day of the series. */
  hasPassed(series: SymbolSeries, day: Day): boolean {
    return day < series.newestDays[this.index]!;
  }

  measure({ symbol }: SymbolSeries): Measure {
    return { unit: symbol.unit.symbol, quote: symbol.currency.code };
  }

  latest(series: SymbolSeries): LatestPrice | undefined {
    return series.histories?.visible(this.index)?.views[this.index]?.latest;
  }

  firstDay(series: SymbolSeries): Day | undefined {
    if (!series.has('recent')) return series.dates?.firstDay(this.horizon);
    const history = series.histories?.visible(this.index);
    const unsettled = history?.views[this.index]?.overlay[0]?.day;
    return earlier(history?.firstDay, unsettled);
  }

  lastDay(series: SymbolSeries): Day | undefined {
    if (!series.has('recent')) return series.dates?.lastDay(this.horizon);
    const history = series.histories?.visible(this.index);
    const unsettled = history?.views[this.index]?.overlay.at(-1)?.day;
    const settled = history?.newest?.day;
    return unsettled === undefined || (settled !== undefined && settled > unsettled) ? settled : unsettled;
  }

  barOnOrBefore(series: SymbolSeries, day: Day, earliest: Day): SourcedBar | undefined {
    const history = series.histories?.visible(this.index);
    if (!history) return undefined;
    const columns = columnsFrom(earliest, history, series);
    return newestBar(columns, history.views[this.index]!.overlay, day, earliest);
  }

  settled(series: SymbolSeries, first: Day, last: Day): SettledRange | undefined {
    const history = series.histories?.visible(this.index);
    if (!history) return undefined;
    const columns = columnsFrom(first, history, series);
    return settledIn(columns, history.views[this.index]!.overlay, first, last);
  }

  bars(series: SymbolSeries, first: Day, last: Day): SourcedBar[] {
    const history = series.histories?.visible(this.index);
    if (!history) return [];
    const columns = columnsFrom(first, history, series);
    return mergeBars(columns, history.views[this.index]!.overlay, first, last);
  }

  /** The last bars up to a day, at most `countMax`, none before `earliest`. The recent ones may be enough. */
  lastBars(series: SymbolSeries, last: Day, earliest: Day, countMax: number): SourcedBar[] {
    const history = series.histories?.visible(this.index);
    if (!history) return [];
    const { overlay } = history.views[this.index]!;
    if (series.has('recent')) {
      const recent = history.settled.recentColumns();
      const bars = mergeBars(recent, overlay, Math.max(earliest, recent.from), last).slice(-countMax);
      if (bars.length === countMax || recent.from <= earliest) return bars;
    }
    return mergeBars(columnsFrom(earliest, history, series), overlay, earliest, last).slice(-countMax);
  }

  freeze(series: readonly SymbolSeries[]): FrozenView {
    const frozen = new Map(series.map((one) => [one, this.#freezeOne(one)]));
    return new FrozenView(this.delayMs, frozen);
  }

  #freezeOne(series: SymbolSeries): FrozenSeries {
    const history = series.histories?.visible(this.index);
    return {
      measure: this.measure(series),
      latest: this.latest(series),
      firstDay: this.firstDay(series),
      lastDay: this.lastDay(series),
      ...(history ? frozenHistory(history.settled.columns!, history.views[this.index]!.overlay) : NOTHING),
    };
  }
}

const NOTHING = { bars: NO_BARS, overlay: [] };

/** The settled history, to be read from this day on. */
function columnsFrom(day: Day, { settled: { columns } }: PriceHistory, { symbol }: SymbolSeries): Columns {
  if (!columns || day < columns.from) throw new NotLoaded(symbol.code);
  return columns;
}

function frozenHistory(columns: Columns, overlay: readonly SourcedBar[]) {
  return { bars: columns.freeze(), overlay, snapshotOf: { columns, version: columns.version } };
}

function earlier(a: Day | undefined, b: Day | undefined): Day | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : Math.min(a, b);
}
