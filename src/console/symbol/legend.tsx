import type { ChartBar } from '../api/answers.ts';
import type { PlottedAverage } from '../charts/drawing.ts';
import type { ChartCursor } from '../charts/price-chart.tsx';
import type { ChartSeries } from '../data/chart/history.ts';
import type { BarInterval } from '../data/chart/span.ts';
import { linkTo } from '../data/route.ts';
import { computedPrice, dayOrTime, percentTrend, price, signed } from '../show/format.ts';

export const BAR_NAMES: Readonly<Record<BarInterval, string>> = {
  minute: '1 minute',
  '5min': '5 minutes',
  '15min': '15 minutes',
  hour: 'hourly',
  day: 'daily',
  week: 'weekly',
  month: 'monthly',
  quarter: 'quarterly',
  year: 'yearly',
};

/** The prices under the pointer, or the newest ones. */
export function Legend({
  series,
  colours,
  averages,
  interval,
  cursor,
  isCompared,
  onRemove,
}: {
  series: readonly ChartSeries[];
  colours: readonly string[];
  averages: readonly PlottedAverage[];
  interval: BarInterval;
  cursor: ChartCursor;
  isCompared: boolean;
  onRemove: (code: string) => void;
}) {
  const [main, ...compared] = series;
  const at = main && indexAt(main.bars, cursor.hovered);
  const bar = at === undefined ? undefined : main?.bars[at];
  if (!main || !bar) return <p class="legend">&nbsp;</p>;
  const date = cursor.hovered ?? bar.date;
  const show = main.isPublished ? price : computedPrice;
  const before = at === undefined ? undefined : main.bars[at - 1];
  return (
    <div class="legends">
      <p class="legend">
        <span class="legend-day">{dayOrTime(bar.date)}</span>
        {isCompared && <Swatch colour={colours[0]!} name={main.symbol.name} />}
        {(['open', 'high', 'low', 'close'] as const).map((name) => (
          <span key={name}>
            <abbr title={name}>{name[0]!.toUpperCase()}</abbr> {show(bar[name])}
          </span>
        ))}
        {isCompared ? (
          <Change from={baseOf(main.bars, cursor.firstVisible)} to={bar} />
        ) : (
          <Change from={before} to={bar} />
        )}
        {averages.map(({ length, points, colour }) => {
          const point = points.findLast((one) => one.date <= date);
          return (
            <span key={length} class={`legend-average ${colour.slice(2)}`}>
              MA {length} {point ? computedPrice(point.value) : '—'}
            </span>
          );
        })}
        <span class="legend-interval">{BAR_NAMES[interval]}</span>
      </p>
      {compared.map(({ symbol, bars, unit, quote, isPublished }, i) => {
        const own = bars[indexAt(bars, date) ?? -1];
        return (
          <p class="legend compared" key={symbol.symbol}>
            <a href={linkTo('symbol', symbol.symbol)}>
              <Swatch colour={colours[i + 1]!} name={symbol.name} />
            </a>
            <span>{own ? (isPublished ? price : computedPrice)(own.close) : 'no price'}</span>
            <span class="muted">{measure(quote, unit)}</span>
            {own && <Change from={baseOf(bars, cursor.firstVisible)} to={own} />}
            <button
              type="button"
              class="remove"
              aria-label={`Remove ${symbol.name}`}
              title={`Remove ${symbol.name}`}
              onClick={() => onRemove(symbol.symbol)}
            >
              ×
            </button>
          </p>
        );
      })}
    </div>
  );
}

function Swatch({ colour, name }: { colour: string; name: string }) {
  return (
    <span class="legend-name">
      <i class={`swatch ${colour.slice(2)}`} />
      {name}
    </span>
  );
}

function Change({ from, to }: { from: ChartBar | undefined; to: ChartBar }) {
  if (!from || from.close === 0) return null;
  const percent = ((to.close - from.close) / Math.abs(from.close)) * 100;
  return <span class={percentTrend(percent)}>{signed(percent)} %</span>;
}

export function measure(quote: string, unit: string): string {
  if (quote === 'none') return '';
  return unit === 'none' ? quote : `${quote}/${unit}`;
}

/** The last bar on or before a date; the newest one without a date. */
function indexAt(bars: readonly ChartBar[], date: string | undefined): number | undefined {
  const index = date === undefined ? bars.length - 1 : bars.findLastIndex((bar) => bar.date <= date);
  return index < 0 ? undefined : index;
}

/** Where percentages count from: the first bar in view, as on the scale of the chart. */
function baseOf(bars: readonly ChartBar[], firstVisible: string | undefined): ChartBar | undefined {
  return firstVisible === undefined ? bars[0] : bars.find(({ date }) => date >= firstVisible);
}
