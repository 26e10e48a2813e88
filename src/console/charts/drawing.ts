import type {
  IChartApi,
  ISeriesApi,
  ISeriesMarkersPluginApi,
  LogicalRange,
  SeriesType,
  TickMarkType,
  Time,
  UTCTimestamp,
} from 'lightweight-charts';
import type { ChartBar } from '../api/answers.ts';
import { loadModule } from '../api/load-module.ts';
import { isInstant, printInstant } from '../data/chart/intraday.ts';
import type { ChartType, Scale } from '../data/chart/view.ts';
import { priceWith } from '../show/format.ts';
import type { AveragePoint } from './moving-average.ts';

/** A symbol on the chart. `colour` is the name of a CSS variable. */
export interface PlottedBars {
  code: string;
  type: ChartType;
  bars: readonly ChartBar[];
  colour: string;
}

export interface PlottedAverage {
  length: number;
  points: readonly AveragePoint[];
  colour: string;
}

/** A day whose bar was corrected. */
export interface CorrectionMark {
  date: string;
  text: string;
}

export interface Plot {
  /** The symbol of the page first. */
  lines: readonly PlottedBars[];
  averages: readonly PlottedAverage[];
  scale: Scale;
  marks: readonly CorrectionMark[];
  /** All times, also those without a bar. */
  times: readonly string[];
  decimals: number;
}

export interface DrawingEvents {
  /** Undefined: the pointer has left the chart. */
  onHover(date: string | undefined): void;
  /** The first date in view changed. `isAtStart`: nothing is drawn before it. */
  onMove(firstVisible: string | undefined, isAtStart: boolean): void;
}

const MODES: Readonly<Record<Scale, number>> = { linear: 0, log: 1, percent: 2 };

/** How close to the oldest bar the view has to be for older ones to be loaded. */
const OLDER_WITHIN_BARS = 5;

/** Charts that are narrower than this have room for few labels. */
const PHONE_PX = 500;

/** Half the width of the widest label of each kind on the time axis, in bold type of 12 px. */
const HALF_LABEL_PX: Readonly<Record<TickMarkType, number>> = {
  0: 18, // 2024
  1: 18, // Sept
  2: 10, // 28
  3: 20, // 12:00
  4: 30, // 12:00:00
};

/** The chart library's side of a chart: draws a plot on a canvas in the colours of the page. */
export class PriceDrawing {
  readonly #library: typeof import('./library.ts');
  readonly #box: HTMLElement;
  readonly #chart: IChartApi;
  readonly #series = new Map<string, ISeriesApi<SeriesType>>();
  #markers: { of: ISeriesApi<SeriesType>; plugin: ISeriesMarkersPluginApi<Time> } | undefined;
  #times: readonly string[] = [];

  static async open(box: HTMLElement, events: DrawingEvents): Promise<PriceDrawing> {
    return new PriceDrawing(await loadModule(() => import('./library.ts')), box, events);
  }

  private constructor(library: typeof import('./library.ts'), box: HTMLElement, events: DrawingEvents) {
    this.#library = library;
    this.#box = box;
    this.#chart = library.createChart(box, {
      autoSize: true,
      layout: { attributionLogo: false, fontFamily: getComputedStyle(box).fontFamily, fontSize: 12 },
      rightPriceScale: { borderVisible: false, entireTextOnly: true },
      timeScale: {
        borderVisible: false,
        rightOffset: 2,
        minBarSpacing: 0.1,
        secondsVisible: false,
        // The longest label has five characters. A wide chart has better places for fewer labels, such as the middle of a month.
        tickMarkMaxCharacterLength: box.clientWidth < PHONE_PX ? 6 : 8,
        tickMarkFormatter: (time: Time, type: TickMarkType) => (this.#hasRoom(time, type) ? null : ''),
      },
      handleScroll: { vertTouchDrag: false },
      localization: { locale: 'en-GB' }, // the browser's own may be no valid tag, which would throw
    });
    this.setWheel(false);
    this.#chart.subscribeCrosshairMove(({ time }) => events.onHover(dateOf(time)));
    this.#chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
      this.#chart.timeScale().applyOptions({}); // or the library would keep the labels it has formatted
      if (range) events.onMove(this.#dateAt(range), range.from < OLDER_WITHIN_BARS);
    });
  }

  remove(): void {
    this.#chart.remove();
  }

  show({ lines, averages, scale, marks, times, decimals }: Plot): void {
    this.#applyColours(scale, decimals);
    if (times[0] !== this.#times[0]) this.#clearAllBut(`${lines[0]?.code} ${lines[0]?.type}`);
    this.#setTimes(times);
    // By default, the axis has no steps below 0.01.
    const base = 10 ** decimals;
    const priceFormat = { base, minMove: 1 / base };
    const shown = new Set<string>();
    for (const [i, { code, type, bars, colour }] of lines.entries()) {
      const series = this.#find(shown, `${code} ${type}`, type);
      series.applyOptions({ ...this.#styleOf(type, colour, i === 0), priceFormat });
      series.setData(i === 0 ? withBlanks(bars, times) : bars.map(pointOf));
    }
    for (const { length, points, colour } of averages) {
      const series = this.#find(shown, `average ${length}`, 'line');
      const style = this.#styleOf('line', colour, false);
      series.applyOptions({ ...style, priceFormat, lineWidth: 1, lastValueVisible: false });
      series.setData(points.map(({ date, value }) => ({ time: timeOf(date), value })));
    }
    this.#removeAllBut(shown);
    this.#mark(this.#series.values().next().value, marks);
  }

  /** Shows the bars from a day on, up to the newest. */
  showFrom(first: string): void {
    const start = this.#times.findIndex((date) => date >= first);
    if (start < 0) return;
    const end = this.#times.length - 1;
    const margin = Math.max(1, (end - start) / 60);
    this.#chart.timeScale().setVisibleLogicalRange({ from: start, to: end + margin });
  }

  /** Whether the mouse wheel zooms the chart. Otherwise it scrolls the page. */
  setWheel(isOn: boolean): void {
    this.#chart.applyOptions({ handleScroll: { mouseWheel: isOn }, handleScale: { mouseWheel: isOn } });
  }

  /** Moves the view by a part of its width. */
  pan(part: number): void {
    this.#changeRange(({ from, to }) => {
      const distance = (to - from) * part;
      return { from: from + distance, to: to + distance };
    });
  }

  /** Makes the view wider or narrower; its right end stays. */
  zoom(factor: number): void {
    this.#changeRange(({ from, to }) => ({ from: to - (to - from) * factor, to }));
  }

  picture(): HTMLCanvasElement {
    return this.#chart.takeScreenshot(true);
  }

  #changeRange(change: (range: LogicalRange) => { from: number; to: number }): void {
    const range = this.#chart.timeScale().getVisibleLogicalRange();
    if (range) this.#chart.timeScale().setVisibleLogicalRange(change(range));
  }

  /** The library cannot hold days and instants at the same time. */
  #setTimes(times: readonly string[]): void {
    const hasInstants = isInstant(times[0] ?? '');
    if (hasInstants !== isInstant(this.#times[0] ?? '')) this.#removeAllBut(new Set());
    this.#times = times;
    this.#chart.applyOptions({ timeScale: { timeVisible: hasInstants } });
  }

  #removeAllBut(shown: ReadonlySet<string>): void {
    for (const [name, series] of this.#series) {
      if (shown.has(name)) continue;
      this.#chart.removeSeries(series);
      this.#series.delete(name);
    }
  }

  /**
   * Before times are inserted at the start. The library (5.2.1) moves the points of a series to their new places only if no other
   * series has points: the bars would otherwise stand at the wrong dates.
   */
  #clearAllBut(kept: string): void {
    for (const [name, series] of this.#series) if (name !== kept) series.setData([]);
  }

  #find(shown: Set<string>, name: string, type: ChartType): ISeriesApi<SeriesType> {
    shown.add(name);
    return this.#series.getOrInsertComputed(name, () => {
      const { AreaSeries, CandlestickSeries, LineSeries } = this.#library;
      if (type === 'candles') return this.#chart.addSeries(CandlestickSeries);
      return type === 'area' ? this.#chart.addSeries(AreaSeries) : this.#chart.addSeries(LineSeries);
    });
  }

  /** Whether a label fits on the time axis: the library would cut it off at the edge. */
  #hasRoom(time: Time, type: TickMarkType): boolean {
    const x = this.#chart.timeScale().timeToCoordinate(time) ?? 0;
    return x >= HALF_LABEL_PX[type] && x <= this.#chart.timeScale().width() - HALF_LABEL_PX[type];
  }

  #dateAt({ from }: LogicalRange): string | undefined {
    return this.#times[Math.max(0, Math.floor(from))];
  }

  /** A canvas has no style sheet: it uses the page's colours. */
  #applyColours(scale: Scale, decimals: number): void {
    const grid = { color: this.#colour('--line-faint') };
    this.#chart.applyOptions({
      layout: { background: { color: this.#colour('--surface') }, textColor: this.#colour('--muted') },
      grid: { vertLines: grid, horzLines: grid },
      rightPriceScale: { mode: MODES[scale] },
      localization: {
        priceFormatter: (value: number) => priceWith(value, decimals),
        percentageFormatter: (value: number) => `${priceWith(value, 2)} %`,
      },
    });
  }

  #styleOf(type: ChartType, name: string, isFirst: boolean) {
    const [up, down] = [this.#colour('--rise'), this.#colour('--fall')];
    const colour = this.#colour(name);
    const shared = { priceLineVisible: isFirst };
    if (type === 'line') return { ...shared, color: colour, lineWidth: 2 as const };
    if (type === 'area') {
      const [topColor, bottomColor] = [`${colour}40`, `${colour}05`];
      return { ...shared, lineColor: colour, topColor, bottomColor, lineWidth: 2 as const };
    }
    return {
      ...shared,
      upColor: up,
      borderUpColor: up,
      wickUpColor: up,
      downColor: down,
      borderDownColor: down,
      wickDownColor: down,
    };
  }

  #mark(series: ISeriesApi<SeriesType> | undefined, marks: readonly CorrectionMark[]): void {
    if (!series) return;
    if (this.#markers?.of !== series) {
      this.#markers = { of: series, plugin: this.#library.createSeriesMarkers(series, []) };
    }
    const color = this.#colour('--gold');
    this.#markers.plugin.setMarkers(
      marks.map(({ date, text }) => ({
        time: timeOf(date),
        position: 'aboveBar',
        shape: 'circle',
        size: 0.6,
        color,
        text,
      })),
    );
  }

  #colour(name: string): string {
    return getComputedStyle(this.#box).getPropertyValue(name).trim();
  }
}

/** The library takes days as text and instants as numbers. */
function timeOf(date: string): Time {
  return isInstant(date) ? ((Date.parse(date) / 1_000) as UTCTimestamp) : date;
}

function dateOf(time: Time | undefined): string | undefined {
  if (typeof time === 'number') return printInstant(time * 1_000);
  return typeof time === 'string' ? time : undefined;
}

/** A candle, which is also the point of a line. */
function pointOf({ date, open, high, low, close }: ChartBar) {
  return { time: timeOf(date), open, high, low, close, value: close };
}

/** The points of the bars, and blanks at the other times. */
function withBlanks(bars: readonly ChartBar[], times: readonly string[]) {
  const byDate = new Map(bars.map((bar) => [bar.date, bar]));
  return times.map((time) => {
    const bar = byDate.get(time);
    return bar ? pointOf(bar) : { time: timeOf(time) };
  });
}
