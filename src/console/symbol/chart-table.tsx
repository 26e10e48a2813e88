import { useMemo } from 'preact/hooks';
import type { ChartSeries } from '../data/chart/history.ts';
import { type BarPeriod, periodsOf } from '../data/chart/periods.ts';
import { computedPrice, dayOrTime, price } from '../show/format.ts';
import { measure } from './legend.tsx';

/** Short enough to be read out. A row stands for as many bars as that takes. */
const ROWS_MAX = 24;

const FIELDS = ['open', 'high', 'low', 'close'] as const;

/** The prices that a chart shows, as a table for screen readers. */
export function ChartTable({ series, shownFrom }: { series: readonly ChartSeries[]; shownFrom: string }) {
  const [main, ...compared] = series;
  const periods = useMemo(() => {
    const shown = (main?.bars ?? []).filter(({ date }) => date >= shownFrom);
    return periodsOf(shown, ROWS_MAX);
  }, [main?.bars, shownFrom]);
  if (!main || periods.length === 0) return null;
  const show = printerOf(main);
  return (
    <div class="visually-hidden">
      <table>
        <caption>{captionOf(main)}</caption>
        <thead>
          <tr>
            <th scope="col">Period</th>
            {FIELDS.map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
            {compared.map(({ symbol }) => (
              <th scope="col" key={symbol.symbol}>
                {symbol.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {periods.map((period) => (
            <tr key={period.first}>
              <th scope="row">{spanText(period)}</th>
              {FIELDS.map((name) => (
                <td key={name}>{show(period[name])}</td>
              ))}
              {compared.map((one) => (
                <td key={one.symbol.symbol}>{closeOf(one, period)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How the prices of a series are shown. */
export function printerOf({ isPublished }: ChartSeries): (value: number) => string {
  return isPublished ? price : computedPrice;
}

function captionOf({ symbol, quote, unit }: ChartSeries): string {
  const text = measure(quote, unit);
  return `Prices of ${symbol.name}${text === '' ? '' : ` in ${text}`}`;
}

function spanText({ first, last }: BarPeriod): string {
  return first === last ? dayOrTime(first) : `${dayOrTime(first)} to ${dayOrTime(last)}`;
}

/** The last close of a compared symbol in a period. */
function closeOf(series: ChartSeries, { first, last }: BarPeriod): string {
  const bar = series.bars.findLast(({ date }) => date <= last);
  return bar && bar.date >= first ? printerOf(series)(bar.close) : 'no price';
}
