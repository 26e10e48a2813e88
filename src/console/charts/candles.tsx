import type { IChartApi, ISeriesApi } from 'lightweight-charts';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChartBar } from '../api/answers.ts';
import { loadModule } from '../api/load-module.ts';
import { day, decimalsOf, price, signed, trend } from '../show/format.ts';
import { useTheme } from '../show/theme.tsx';

/** A day whose bar was corrected. */
export interface Mark {
  date: string;
  text: string;
}

interface Drawn {
  chart: IChartApi;
  series: ISeriesApi<'Candlestick'> | ISeriesApi<'Line'>;
  isLine: boolean;
  mark(marks: readonly Mark[]): void;
}

/** Many sources have one price per day, whose candles would be dashes: these are drawn as a line. */
function hasOnePriceADay(bars: readonly ChartBar[]): boolean {
  return bars.length > 0 && bars.every(({ open, high, low, close }) => open === close && high === low);
}

/** Candles with a crosshair that shows open, high, low and close. The library is loaded with the first chart. */
export function Candles({
  bars,
  marks,
  label,
}: {
  bars: readonly ChartBar[];
  marks: readonly Mark[];
  label: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [made, setMade] = useState<Drawn>();
  const [hovered, setHovered] = useState<string>();
  const theme = useTheme();
  const wasLine = useRef(false);
  // The last bar may still change; it stays as it was while others load.
  if (bars.length > 1) wasLine.current = hasOnePriceADay(bars.slice(0, -1));
  const isLine = wasLine.current;
  const drawn = made?.isLine === isLine ? made : undefined;
  useEffect(() => {
    let gone = false;
    let own: Drawn | undefined;
    void draw(box.current!, isLine, setHovered).then((done) => {
      own = done;
      if (gone) done.chart.remove();
      else setMade(done);
    });
    return () => {
      gone = true;
      setMade(undefined);
      own?.chart.remove();
    };
  }, [isLine]);
  useEffect(() => {
    if (drawn) colour(drawn, box.current!);
  }, [drawn, theme]);
  useEffect(() => {
    if (!drawn) return;
    const decimals = Math.max(2, ...bars.slice(-20).map(({ close }) => decimalsOf(close)));
    drawn.series.applyOptions({
      priceFormat: { type: 'price', precision: decimals, minMove: 10 ** -decimals },
    });
    drawn.series.setData(bars.map((bar) => pointOf(bar)));
    drawn.chart.timeScale().fitContent();
  }, [drawn, bars.length, bars[0]?.date]);
  useEffect(() => {
    const last = bars.at(-1);
    if (drawn && last) drawn.series.update(pointOf(last));
  }, [drawn, bars]);
  useEffect(() => drawn?.mark(marks), [drawn, marks]);
  const index = hovered === undefined ? bars.length - 1 : bars.findIndex(({ date }) => date === hovered);
  return (
    <div class="chart">
      <Legend bar={bars[index]} before={bars[index - 1]} />
      <div class="chart-box" ref={box} role="img" aria-label={label} />
    </div>
  );
}

function Legend({ bar, before }: { bar: ChartBar | undefined; before: ChartBar | undefined }) {
  if (!bar) return <p class="legend">&nbsp;</p>;
  const change =
    before && before.close !== 0 ? ((bar.close - before.close) / Math.abs(before.close)) * 100 : undefined;
  return (
    <p class="legend">
      <span class="legend-day">{day(bar.date)}</span>
      {(['open', 'high', 'low', 'close'] as const).map((name) => (
        <span key={name}>
          <abbr title={name}>{name[0]!.toUpperCase()}</abbr> {price(bar[name])}
        </span>
      ))}
      {change !== undefined && <span class={trend(change)}>{signed(change)} %</span>}
    </p>
  );
}

/** A candle, which is also the point of a line. */
function pointOf({ date, open, high, low, close }: ChartBar) {
  return { time: date, open, high, low, close, value: close };
}

async function draw(
  box: HTMLElement,
  isLine: boolean,
  onHover: (date: string | undefined) => void,
): Promise<Drawn> {
  const { CandlestickSeries, LineSeries, createChart, createSeriesMarkers } = await loadModule(
    () => import('./library.ts'),
  );
  const chart = createChart(box, {
    autoSize: true,
    layout: { attributionLogo: false, fontFamily: getComputedStyle(box).fontFamily, fontSize: 12 },
    rightPriceScale: { borderVisible: false },
    timeScale: { borderVisible: false, rightOffset: 2, minBarSpacing: 0.1 },
    handleScroll: { vertTouchDrag: false },
  });
  const series = isLine
    ? chart.addSeries(LineSeries, { lineWidth: 2 })
    : chart.addSeries(CandlestickSeries, {});
  chart.subscribeCrosshairMove(({ time }) => onHover(typeof time === 'string' ? time : undefined));
  const markers = createSeriesMarkers(series, []);
  const mark = (marks: readonly Mark[]) =>
    markers.setMarkers(
      marks.map(({ date, text }) => ({
        time: date,
        position: 'aboveBar',
        shape: 'circle',
        size: 0.6,
        color: '#c98a1b',
        text,
      })),
    );
  return { chart, series, isLine, mark };
}

/** A canvas has no style sheet: it uses the page's colors. */
function colour({ chart, series, isLine }: Drawn, box: HTMLElement): void {
  const style = getComputedStyle(box);
  const of = (name: string) => style.getPropertyValue(name).trim();
  chart.applyOptions({
    layout: { background: { color: of('--surface') }, textColor: of('--muted') },
    grid: { vertLines: { color: of('--line-faint') }, horzLines: { color: of('--line-faint') } },
  });
  if (isLine) {
    (series as ISeriesApi<'Line'>).applyOptions({ color: of('--accent') });
    return;
  }
  const [up, down] = [of('--rise'), of('--fall')];
  (series as ISeriesApi<'Candlestick'>).applyOptions({
    upColor: up,
    borderUpColor: up,
    wickUpColor: up,
    downColor: down,
    borderDownColor: down,
    wickDownColor: down,
  });
}
