import { z } from 'zod';
import type { HistoryRow, PriceMetadata } from '../../client/answers.ts';
import { csv } from '../../client/csv.ts';
import { wholeHistory } from '../../client/history.ts';
import { parseDay, printDay } from '../../market/day.ts';
import { percentChange, printNumber } from '../../market/decimal.ts';
import { INTERVALS, type Interval, laterInterval } from '../../market/interval.ts';
import { seriesUri } from '../resources.ts';
import { mayTrade, measure, origin } from '../text.ts';
import { conversion, date, oneSymbol, symbolParams, tool } from '../tool.ts';

/** More rows than this are summarized: they would fill the model's context. */
const ROWS_MAX = 60;
/** How many rows a summary shows. */
const SHOWN = 24;

export const priceSeries = tool({
  name: 'price_series',
  title: 'Price series',
  description:
    'Open, high, low, close and average of one symbol over a range, by day, week, month, quarter or year. A long series is summarized: first, last, lowest, highest and evenly spaced rows; the complete one is in the resource that the answer names. Choose a longer interval for a long range.',
  input: z.object({
    symbol: oneSymbol.describe('A symbol code such as XAU, or a formula such as {BRENTOIL-FUT}-{WTIOIL-FUT}'),
    from: date('The first day'),
    to: date('The last day'),
    interval: z.enum(INTERVALS).default('day'),
    ...conversion,
  }),
  async answer({ symbol, from, to, interval, currency, unit }, ask, horizon) {
    const params = {
      ...symbolParams({ symbols: [symbol], currency, unit }),
      startDate: from,
      endDate: to,
      interval,
    };
    const { rows, metadata, warnings } = await wholeHistory(ask, params);
    const code = rows[0]?.symbol;
    if (code === undefined) {
      const why = warnings.length > 0 ? warnings.join(' ') : 'find_symbols states the first and last date.';
      return { text: `${symbol} has no prices from ${from} to ${to}. ${why}` };
    }
    const end = lastDayOf(rows.at(-1)!.date, interval);
    const head =
      headline(code, rows, metadata[code]!, interval) + openText(end < to ? end : to, await horizon());
    if (rows.length <= ROWS_MAX) return { text: `${head}\n${tableOf(rows)}` };
    const uri = seriesUri({ symbol: code, from, to, interval, currency, unit });
    const text = `${head}\n${extremes(rows)}\n${SHOWN} of ${rows.length} rows, evenly spaced:\n${tableOf(spread(rows))}\nAll rows: resource ${uri}`;
    return { text, resource: { uri, name: `${code} ${from} to ${to} by ${interval}` } };
  },
});

function headline(code: string, rows: readonly HistoryRow[], about: PriceMetadata, interval: string): string {
  const [first, last] = [rows[0]!, rows.at(-1)!];
  const change = percentChange(first.close, last.close, 2);
  return `${code}, ${measure(about)}, by ${interval}, ${first.date} to ${last.date}, ${origin(about)}. Close ${printNumber(first.close)} → ${printNumber(last.close)} (${change} %).`;
}

/** The last day of the interval that begins on a day. */
function lastDayOf(date: string, interval: Interval): string {
  return printDay(laterInterval(interval, parseDay(date)!, 1) - 1);
}

/** The last interval of a range that reaches today may not be over. */
function openText(lastDay: string, horizon: number): string {
  return mayTrade(lastDay, horizon)
    ? ' The last row is PROVISIONAL: it includes a day that may still be trading.'
    : '';
}

function extremes(rows: readonly HistoryRow[]): string {
  const lowest = rows.reduce((a, b) => (b.close < a.close ? b : a));
  const highest = rows.reduce((a, b) => (b.close > a.close ? b : a));
  return `Lowest close ${printNumber(lowest.close)} on ${lowest.date}, highest ${printNumber(highest.close)} on ${highest.date}.`;
}

function spread(rows: readonly HistoryRow[]): HistoryRow[] {
  return Array.from({ length: SHOWN }, (_, i) => rows[Math.round((i * (rows.length - 1)) / (SHOWN - 1))]!);
}

function tableOf(rows: readonly HistoryRow[]): string {
  return csv(
    ['date', 'open', 'high', 'low', 'close', 'average'],
    rows.map(({ date, open, high, low, close, average }) => [date, open, high, low, close, average]),
  );
}
