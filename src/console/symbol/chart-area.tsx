import { useMemo, useState } from 'preact/hooks';
import type { MarketSymbol } from '../api/answers.ts';
import { isRefused } from '../api/client.ts';
import { AVERAGE_COLOURS, LINE_COLOURS } from '../charts/colours.ts';
import type { CorrectionMark, Plot, PlottedAverage, PriceDrawing } from '../charts/drawing.ts';
import { movingAverage } from '../charts/moving-average.ts';
import { type ChartCursor, PriceChart } from '../charts/price-chart.tsx';
import { timeGrid, unionOf } from '../charts/time-grid.ts';
import type { ChartSeries, History } from '../data/chart/history.ts';
import { isIntraday } from '../data/chart/intraday.ts';
import type { LoadedHistory } from '../data/chart/use-history.ts';
import type { ChangeView, ChartType, ChartView, Scale } from '../data/chart/view.ts';
import { computedDecimals, day, dayOrTime, decimalsOf } from '../show/format.ts';
import { lazy } from '../show/lazy.tsx';
import { Failure, Loading } from '../show/parts.tsx';
import { ChartTable, printerOf } from './chart-table.tsx';
import { Legend } from './legend.tsx';

const AskFirst = lazy(async () => (await import('./no-chart.tsx')).AskFirst, LoadingNotice);
const NoMinutes = lazy(async () => (await import('./no-chart.tsx')).NoMinutes, LoadingNotice);
const Refused = lazy(async () => (await import('./no-chart.tsx')).Refused, LoadingNotice);

/** The chart with its legend, or what to do while there is none. */
export function ChartArea({
  history,
  series,
  view,
  style,
  shownFrom,
  marks,
  obstacle,
  plan,
  onLoad,
  onChange,
  onRemove,
  onDrawing,
}: {
  history: LoadedHistory;
  /** Those of the history, with the newest price. Empty if they have no prices in the range. */
  series: readonly ChartSeries[];
  view: ChartView;
  style: ChartStyle;
  shownFrom: string;
  marks: readonly CorrectionMark[];
  /** Why nothing is loaded: how many requests the user has to agree to, or what has no bars shorter than a day. */
  obstacle: number | 'plan' | 'symbol' | undefined;
  plan: string;
  onLoad: () => void;
  onChange: ChangeView;
  /** Compares with a symbol no more. */
  onRemove: (code: string) => void;
  onDrawing: (drawing: PriceDrawing | undefined) => void;
}) {
  const [cursor, setCursor] = useState<ChartCursor>({ hovered: undefined, firstVisible: undefined });
  const { data } = history;
  const plot = usePlot(series, data?.interval ?? 'day', view, style, marks);
  if (typeof obstacle === 'number') return <AskFirst requests={obstacle} onLoad={onLoad} />;
  const showMonths = () => onChange({ range: undefined, interval: undefined });
  if (obstacle) return <NoMinutes because={obstacle} plan={plan} onLeave={showMonths} />;
  const isEmpty = history.state === 'ready' && (series[0]?.bars.length ?? 0) === 0;
  const isShortRange = isIntraday(data?.interval ?? 'day');
  return (
    <div class="chart" aria-busy={history.state === 'loading'}>
      {history.state === 'failed' &&
        (isRefused(history.error) ? (
          <Refused error={history.error} onChange={onChange} />
        ) : (
          <Failure error={history.error} onRetry={history.reload} />
        ))}
      {view.scale === 'log' && style.scale !== 'log' && (
        <p class="hint" role="status">
          The scale is linear: prices at or below zero have no logarithm.
        </p>
      )}
      <Legend
        series={series}
        colours={LINE_COLOURS}
        averages={plot.averages}
        interval={data?.interval ?? 'day'}
        cursor={cursor}
        isCompared={series.length > 1}
        onRemove={onRemove}
      />
      <PriceChart
        plot={plot}
        shownFrom={shownFrom}
        historyId={data?.id ?? ''}
        label={summary(series, shownFrom)}
        onCursor={setCursor}
        onOlder={history.loadOlder}
        onDrawing={onDrawing}
      />
      <ChartTable series={series} shownFrom={shownFrom} />
      <p class="chart-state" role="status">
        {history.state === 'loading' && 'Loading…'}
        {history.isLoadingOlder && 'Loading older prices…'}
        {isEmpty && data && !isShortRange && emptyText(series[0]!.symbol, shownFrom, data.last)}
      </p>
      {isEmpty && isShortRange && <NoMinutes because="range" plan={plan} onLeave={showMonths} />}
    </div>
  );
}

/** How the chart is drawn. By default: candles where bars have a range, and percent for comparisons. Logarithmic only above zero. */
export interface ChartStyle {
  type: ChartType;
  scale: Scale;
}

export function styleOf(view: ChartView, series: readonly ChartSeries[]): ChartStyle {
  const isCompared = view.compare.length > 0;
  const bars = series[0]?.bars ?? [];
  // Many sources have one price per bar, whose candles would be dashes.
  const flat = bars.filter(({ open, high, low, close }) => open === close && high === low);
  const isFlat = flat.length > bars.length / 2;
  const hasLogs = series.every((one) => one.bars.every(({ low }) => low > 0));
  const scale = view.scale ?? (isCompared ? 'percent' : 'linear');
  return {
    type: view.type ?? (isCompared || isFlat ? 'line' : 'candles'),
    scale: scale === 'log' && !hasLogs ? 'linear' : scale,
  };
}

function usePlot(
  series: readonly ChartSeries[],
  interval: History['interval'],
  view: ChartView,
  { type, scale }: ChartStyle,
  marks: readonly CorrectionMark[],
): Plot {
  const averageLengths = scale === 'percent' ? '' : view.averages.join(',');
  return useMemo(() => {
    const bars = series[0]?.bars ?? [];
    const averages: PlottedAverage[] =
      averageLengths === ''
        ? []
        : averageLengths.split(',').map((length, i) => ({
            length: Number(length),
            points: movingAverage(bars, Number(length)),
            colour: AVERAGE_COLOURS[i]!,
          }));
    return {
      lines: series.map((one, i) => ({
        code: one.symbol.symbol,
        type: i === 0 ? type : ('line' as const),
        bars: one.bars,
        colour: LINE_COLOURS[i]!,
      })),
      averages,
      scale,
      marks,
      times: timeGrid(unionOf(series.map((one) => one.bars.map(({ date }) => date))), interval),
      decimals: decimalsFor(series[0]),
    };
  }, [series, interval, type, scale, averageLengths, marks]);
}

/** The decimals of the axis, where more than six significant digits would be too wide. */
function decimalsFor(main: ChartSeries | undefined): number {
  const closes = (main?.bars ?? []).slice(-20).map(({ close }) => close);
  const enough = computedDecimals(closes.at(-1) ?? 0);
  return main?.isPublished ? Math.min(enough, Math.max(2, ...closes.map(decimalsOf))) : enough;
}

/** The chart in a sentence, for screen readers. */
function summary(series: readonly ChartSeries[], shownFrom: string): string {
  const [main, ...compared] = series;
  const bars = (main?.bars ?? []).filter(({ date }) => date >= shownFrom);
  const [first, last] = [bars[0], bars.at(-1)];
  if (!main || !first || !last) return 'Chart.';
  const high = Math.max(...bars.map((bar) => bar.high));
  const low = Math.min(...bars.map((bar) => bar.low));
  const others = compared.length > 0 ? `, with ${compared.map(({ symbol }) => symbol.name).join(', ')}` : '';
  const show = printerOf(main);
  return `Chart of ${main.symbol.name}${others}: from ${show(first.open)} on ${dayOrTime(first.date)} to ${show(last.close)} on ${dayOrTime(last.date)}, between ${show(low)} and ${show(high)}.`;
}

/** What to say about a range without prices, between these days. */
function emptyText({ firstDate, lastDate }: MarketSymbol, first: string, last: string): string {
  const known =
    firstDate && last < firstDate
      ? `The first is from ${day(firstDate)}.`
      : lastDate && first > lastDate
        ? `The last is from ${day(lastDate)}.`
        : 'Choose a longer one.';
  return `No prices in this range. ${known}`;
}

function LoadingNotice() {
  return <Loading label="Loading" lines={1} />;
}
