import type { ChartBar } from '../../api/answers.ts';
import type { ChartSeries, History } from '../../data/chart/history.ts';
import { isIntraday } from '../../data/chart/intraday.ts';
import type { BarInterval } from '../../data/chart/span.ts';
import { addDays, today } from '../../data/days.ts';
import { computedPrice, price } from '../../show/format.ts';

/** The lowest and the highest price of some bars, and where the newest one is between them. */
export interface PriceRange {
  title: string;
  low: number;
  high: number;
  newest: number;
}

/** 52 weeks, as exchanges count a year. */
const YEAR_DAYS = 364;

/** The ranges of the newest bar, of 52 weeks, and of the chart. */
function rangesOf(
  bars: readonly ChartBar[],
  interval: BarInterval,
  history: Pick<History, 'first' | 'last'>,
  shownFrom: string,
): PriceRange[] {
  const last = bars.at(-1);
  if (!last) return [];
  // Many sources have one price per bar.
  const hasRange = !isIntraday(interval) && last.low < last.high;
  const ranges = hasRange ? [rangeOf(`Range of the ${interval}`, [last])] : [];
  // A longer bar may begin before the 52 weeks, and its extremes, too.
  const yearAgo = addDays(today(), -YEAR_DAYS);
  if (interval === 'day' && history.last >= today() && history.first <= yearAgo) {
    ranges.push(
      rangeOf(
        '52 weeks',
        bars.filter(({ date }) => date >= yearAgo),
      ),
    );
  }
  ranges.push(
    rangeOf(
      'Shown in the chart',
      bars.filter(({ date }) => date >= shownFrom),
    ),
  );
  return ranges.filter((range) => range !== undefined);
}

function rangeOf(title: string, bars: readonly ChartBar[]): PriceRange | undefined {
  const newest = bars.at(-1)?.close;
  if (newest === undefined) return undefined;
  return {
    title,
    low: Math.min(...bars.map(({ low }) => low)),
    high: Math.max(...bars.map(({ high }) => high)),
    newest,
  };
}

export function Ranges({
  series,
  history,
  shownFrom,
}: {
  series: ChartSeries;
  history: History;
  shownFrom: string;
}) {
  const show = series.isPublished ? price : computedPrice;
  const ranges = rangesOf(series.bars, history.interval, history, shownFrom);
  if (ranges.length === 0) return null;
  return (
    <dl class="ranges">
      {ranges.map(({ title, low, high, newest }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>
            <span>{show(low)}</span>
            <svg class="range-track" aria-hidden="true">
              <rect class="track" y="3" width="100%" height="2" rx="1" />
              <circle class="newest" cx={`${placeOf(newest, low, high)}%`} cy="4" r="4" />
            </svg>
            <span>{show(high)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Where the newest price is on the track, in percent. */
function placeOf(newest: number, low: number, high: number): number {
  return high === low ? 50 : ((newest - low) / (high - low)) * 100;
}
