import type { ChartBar, MarketSymbol, OhlcRecord, PlanRecord, SeriesAnswer } from '../api/answers.ts';
import { askWithKey } from '../api/client.ts';
import { has } from '../api/features.ts';
import { addDays, spans, today } from './days.ts';

export const RANGES = ['1M', '6M', '1Y', '5Y', 'All'] as const;
export type Range = (typeof RANGES)[number];

/** A chart's data, and the request it came from. */
export interface History {
  bars: ChartBar[];
  interval: 'day' | 'week';
  source: string;
  /** The unit of the prices. */
  unit: string;
  /** The request for the data; the first one if there were several. */
  request: string;
  requests: number;
}

/** One row for each interval and symbol, the oldest first. */
interface HistoryAnswer extends Omit<SeriesAnswer, 'rates'> {
  rates: readonly (ChartBar & { symbol: string })[];
  next: string | null;
}

const DAYS: Readonly<Record<Range, number>> = { '1M': 30, '6M': 182, '1Y': 365, '5Y': 1826, All: 0 };

/** Limited concurrency: the burst limit covers all programs of the account. */
const AT_A_TIME = 4;

/** A symbol whose prices ended long ago still has its last months. */
const ENDED_DAYS = 14;

/** Where a chart ends: today, unless the symbol's prices ended before. */
export function lastDayOf({ lastDate }: MarketSymbol): string {
  const ended = lastDate !== null && lastDate < addDays(today(), -ENDED_DAYS);
  return ended ? lastDate : today();
}

export function firstDayOf(range: Range, symbol: MarketSymbol): string {
  const start = symbol.firstDate ?? today();
  if (range === 'All') return start;
  const wanted = addDays(lastDayOf(symbol), -DAYS[range]);
  return wanted > start ? wanted : start;
}

/** The parameters of a chart. `unit` is the symbol's own, or another that fits. */
export interface Wanted {
  symbol: MarketSymbol;
  range: Range;
  unit: string;
  plan: PlanRecord;
}

export function hasLongHistory(plan: PlanRecord): boolean {
  return has('/rates/history') && plan.history;
}

/** How many requests a range needs; the user confirms more than a few. */
export function requestsFor(range: Range, symbol: MarketSymbol, plan: PlanRecord): number {
  if (hasLongHistory(plan) || range === '1M') return 1;
  return spans(firstDayOf(range, symbol), lastDayOf(symbol), plan.maxSpanDays).length;
}

export async function loadHistory(
  key: string,
  wanted: Wanted,
  onProgress: (bars: ChartBar[]) => void,
  signal: AbortSignal,
): Promise<History> {
  const { range, symbol, plan } = wanted;
  const first = firstDayOf(range, symbol);
  if (range !== '1M' && hasLongHistory(plan)) return fromHistory(key, wanted, first, signal);
  return fromTimeSeries(key, wanted, first, onProgress, signal);
}

/** The parameters that every request of a chart has. */
function queryOf({ symbol, unit }: Wanted, startDate: string, endDate: string): URLSearchParams {
  const query = new URLSearchParams({ symbols: symbol.symbol, startDate, endDate });
  if (unit !== symbol.unit.symbol) query.set('unit', unit);
  return query;
}

async function fromHistory(
  key: string,
  wanted: Wanted,
  first: string,
  signal: AbortSignal,
): Promise<History> {
  const { symbol } = wanted.symbol;
  const interval = wanted.range === 'All' ? 'week' : 'day';
  const query = queryOf(wanted, first, lastDayOf(wanted.symbol));
  query.set('interval', interval);
  const request = `/rates/history?${query}`;
  const bars: ChartBar[] = [];
  let source = '';
  let requests = 0;
  for (let cursor: string | null = ''; cursor !== null; requests++) {
    const path = cursor === '' ? request : `${request}&cursor=${encodeURIComponent(cursor)}`;
    const answer: HistoryAnswer = await askWithKey<HistoryAnswer>(key, path, { signal });
    bars.push(...answer.rates);
    source ||= sourceOf(answer, symbol);
    cursor = answer.next;
  }
  return { bars, interval, source, unit: wanted.unit, request, requests };
}

async function fromTimeSeries(
  key: string,
  wanted: Wanted,
  first: string,
  onProgress: (bars: ChartBar[]) => void,
  signal: AbortSignal,
): Promise<History> {
  const { plan } = wanted;
  const { symbol } = wanted.symbol;
  // Newest first: the chart shows them while older ones load.
  const parts = spans(first, addDays(lastDayOf(wanted.symbol), 1), Math.max(1, plan.maxSpanDays)).reverse();
  const requests = parts.map(
    ([startDate, endDate]) => `/rates/time-series?${queryOf(wanted, startDate, endDate)}`,
  );
  const bars = new Map<string, ChartBar>();
  let source = '';
  const sorted = () => [...bars.values()].sort((a, b) => (a.date < b.date ? -1 : 1));
  for (let i = 0; i < requests.length; i += AT_A_TIME) {
    const asked = requests.slice(i, i + AT_A_TIME);
    const answers = await Promise.all(asked.map((path) => askWithKey<SeriesAnswer>(key, path, { signal })));
    for (const answer of answers) {
      for (const bar of barsOf(answer.rates, symbol)) bars.set(bar.date, bar);
      source ||= sourceOf(answer, symbol);
    }
    if (i + AT_A_TIME < requests.length) onProgress(sorted());
  }
  return {
    bars: sorted(),
    interval: 'day',
    source,
    unit: wanted.unit,
    request: requests[0]!,
    requests: requests.length,
  };
}

function sourceOf({ metadata }: Pick<SeriesAnswer, 'metadata'>, symbol: string): string {
  const source = metadata?.[symbol]?.source ?? '';
  return source === 'none' ? '' : source;
}

export function barsOf(rates: Record<string, Record<string, OhlcRecord>>, symbol: string): ChartBar[] {
  const bars: ChartBar[] = [];
  for (const [date, symbols] of Object.entries(rates)) {
    const ohlc = symbols[symbol];
    if (ohlc) bars.push({ date, ...ohlc });
  }
  return bars;
}
