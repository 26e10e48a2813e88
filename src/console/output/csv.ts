import type { ChartSeries } from '../data/chart/history.ts';
import type { DaySpan } from '../data/chart/span.ts';

/** For example `XAU-XAG-week.csv`, or `XAU_XAG-week.csv` for the ratio of the two. */
export function fileName(series: readonly ChartSeries[], interval: string, extension: string): string {
  const codes = series.map(({ symbol }) => symbol.symbol.match(/[\w-]+/g)?.join('_'));
  return `${[...codes, interval].join('-')}.${extension}`;
}

/** One row for each bar of each symbol. */
export function csvOf(series: readonly ChartSeries[], { first, last }: DaySpan): string {
  const head = 'symbol,date,open,high,low,close,unit,quote,source';
  const rows = series.flatMap(({ symbol, bars, unit, quote, source }) =>
    bars
      .filter(({ date }) => date >= first && date <= last)
      .map(({ date, open, high, low, close }) =>
        [symbol.symbol, date, open, high, low, close, unit, quote, source].map(cell).join(','),
      ),
  );
  return `${[head, ...rows].join('\n')}\n`;
}

/** Text that a spreadsheet would take for a formula gets an apostrophe, as in the CSV of the service. */
function cell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
