import type { MarketSymbol } from '../api/answers.ts';
import type { History, Range } from '../data/history.ts';

/** Saves what the chart shows, one row for each bar. */
export function downloadCsv({ symbol, currency }: MarketSymbol, range: Range, history: History): void {
  const url = URL.createObjectURL(new Blob([csvOf(symbol, currency.code, history)], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${symbol}-${range}.csv`;
  link.click();
  URL.revokeObjectURL(url);
}

export function csvOf(symbol: string, quote: string, { bars, unit, source }: History): string {
  const head = 'symbol,date,open,high,low,close,unit,quote,source';
  const rows = bars.map(({ date, open, high, low, close }) =>
    [symbol, date, open, high, low, close, unit, quote, source].map(cell).join(','),
  );
  return `${[head, ...rows].join('\n')}\n`;
}

/** Text that a spreadsheet would take for a formula gets an apostrophe, as in the CSV of the service. */
function cell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
