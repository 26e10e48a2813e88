import type { Bar, MarketSymbol, Ohlc, Plan, SeriesAnswer } from './answers.ts';
import { askWithKey } from './client.ts';
import { addDays, spans, today } from './days.ts';
import { has } from './features.ts';

export const RANGES = ['1M', '6M', '1Y', '5Y', 'All'] as const;
export type Range = (typeof RANGES)[number];

/** A chart's data, and how it was come by. */
export interface History {
  bars: Bar[];
  interval: 'day' | 'week';
  source: string;
  /** The request that gave the data; the first of them where it took several. */
  request: string;
  requests: number;
}

/** One row for each interval and symbol, the oldest first. */
interface HistoryAnswer extends Omit<SeriesAnswer, 'rates'> {
  rates: readonly (Bar & { symbol: string })[];
  next: string | null;
}

const DAYS: Readonly<Record<Range, number>> = { '1M': 30, '6M': 182, '1Y': 365, '5Y': 1826, All: 0 };

/** Few at a time: the plan's burst limit is for all of an account's programs. */
const AT_A_TIME = 4;

export function firstDayOf(range: Range, { firstDate }: MarketSymbol): string {
  const start = firstDate ?? today();
  if (range === 'All') return start;
  const wanted = addDays(today(), -DAYS[range]);
  return wanted > start ? wanted : start;
}

/** How many requests a range takes; more than a handful is asked about before. */
export function requestsFor(range: Range, symbol: MarketSymbol, plan: Plan): number {
  if (has('/rates/history') || range === '1M') return 1;
  return spans(firstDayOf(range, symbol), today(), plan.maxSpanDays).length;
}

export async function loadHistory(
  key: string,
  symbol: MarketSymbol,
  range: Range,
  plan: Plan,
  onProgress: (bars: Bar[]) => void,
  signal: AbortSignal,
): Promise<History> {
  const first = firstDayOf(range, symbol);
  if (range !== '1M' && has('/rates/history')) return fromHistory(key, symbol, range, first, signal);
  return fromTimeSeries(key, symbol, first, plan, onProgress, signal);
}

async function fromHistory(
  key: string,
  { symbol }: MarketSymbol,
  range: Range,
  first: string,
  signal: AbortSignal,
): Promise<History> {
  const interval = range === 'All' ? 'week' : 'day';
  const query = new URLSearchParams({ symbols: symbol, startDate: first, endDate: today(), interval });
  const request = `/rates/history?${query}`;
  const bars: Bar[] = [];
  let source = '';
  let requests = 0;
  for (let cursor: string | null = ''; cursor !== null; requests++) {
    const path = cursor === '' ? request : `${request}&cursor=${encodeURIComponent(cursor)}`;
    const answer: HistoryAnswer = await askWithKey<HistoryAnswer>(key, path, { signal });
    bars.push(...answer.rates);
    source ||= sourceOf(answer, symbol);
    cursor = answer.next;
  }
  return { bars, interval, source, request, requests };
}

async function fromTimeSeries(
  key: string,
  { symbol }: MarketSymbol,
  first: string,
  plan: Plan,
  onProgress: (bars: Bar[]) => void,
  signal: AbortSignal,
): Promise<History> {
  // The newest first: the chart shows them while the older ones come.
  const parts = spans(first, addDays(today(), 1), Math.max(1, plan.maxSpanDays)).reverse();
  const requests = parts.map(([startDate, endDate]) => {
    const query = new URLSearchParams({ symbols: symbol, startDate, endDate });
    return `/rates/time-series?${query}`;
  });
  const bars = new Map<string, Bar>();
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
  return { bars: sorted(), interval: 'day', source, request: requests[0]!, requests: requests.length };
}

function sourceOf({ metadata }: Pick<SeriesAnswer, 'metadata'>, symbol: string): string {
  const source = metadata?.[symbol]?.source ?? '';
  return source === 'none' ? '' : source;
}

export function barsOf(rates: Record<string, Record<string, Ohlc>>, symbol: string): Bar[] {
  const bars: Bar[] = [];
  for (const [date, symbols] of Object.entries(rates)) {
    const ohlc = symbols[symbol];
    if (ohlc) bars.push({ date, ...ohlc });
  }
  return bars;
}
