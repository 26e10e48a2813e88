import type { HistoryParameters, Range, TimeSeries } from '../../../../client/src/index.ts';
import type { ChartBar, MarketSymbol, PlanRecord } from '../../api/answers.ts';
import { clientOf } from '../../api/client.ts';
import { spans } from '../days.ts';
import { isFormula } from '../formula.ts';
import type { BarInterval, DaySpan } from './span.ts';

/** A request for history. */
export interface WantedHistory extends DaySpan {
  /** The symbol of the page, then the compared ones. */
  symbols: readonly MarketSymbol[];
  interval: BarInterval;
  /** Of the first symbol; its own if undefined. */
  unit: string | undefined;
  /** Of all symbols; their own if undefined. */
  currency: string | undefined;
}

/** The bars of one symbol, and what their numbers are. */
export interface ChartSeries {
  symbol: MarketSymbol;
  bars: readonly ChartBar[];
  unit: string;
  quote: string;
  source: string;
  /** From the symbol's own currency and unit to those of the newest bar. */
  factor: number;
  /** Whether the numbers are as they were published, neither converted nor computed. */
  isPublished: boolean;
}

/** A chart's data, and the request it came from. */
export interface History extends DaySpan {
  /** Identifies the request; loading older bars does not change it. */
  id: string;
  /** In the order of the symbols. */
  series: readonly ChartSeries[];
  interval: BarInterval;
  /** As they were wanted. */
  unit: string | undefined;
  currency: string | undefined;
  /** The request for the data; the newest one if there were several. */
  request: string;
  requests: number;
  /** When it was asked for, in ms. */
  askedAt: number;
}

/** A row of a history, or a day of a time series. */
interface HistoryRow extends ChartBar {
  symbol: string;
  factor?: number;
}

/** The rows of some symbols, as the service answered them. */
interface Rows {
  rows: readonly HistoryRow[];
  metadata: NonNullable<TimeSeries['metadata']>;
  request: string;
  requests: number;
}

/** How many requests a span needs; the user confirms more than a few. */
export function requestsFor({ first, last }: DaySpan, plan: PlanRecord): number {
  return plan.history ? 1 : spans(first, last, plan.maxSpanDays).length;
}

/** Loads the bars of all symbols: for one unit, unless a unit is chosen that is only for the first of them. */
export async function loadHistory(
  key: string,
  wanted: WantedHistory,
  plan: PlanRecord,
  signal: AbortSignal,
): Promise<History> {
  const { symbols, unit, currency, first, last, interval } = wanted;
  const askedAt = Date.now();
  const groups = unit === undefined ? [symbols] : [symbols.slice(0, 1), symbols.slice(1)];
  const load = plan.history ? fromHistory : fromTimeSeries;
  const answers: { group: readonly MarketSymbol[]; rows: Rows }[] = [];
  for (const [i, group] of groups.entries()) {
    if (group.length === 0) continue;
    const query = queryOf(wanted, group, i === 0 ? unit : undefined);
    answers.push({ group, rows: await load(key, query, plan, signal) });
  }
  const { request } = answers[0]!.rows;
  const requests = answers.reduce((sum, { rows }) => sum + rows.requests, 0);
  const series = answers.flatMap(({ group, rows }) => seriesOf(group, rows));
  const id = identityOf(wanted);
  return { id, series, interval, unit, currency, first, last, request, requests, askedAt };
}

export function identityOf({ symbols, ...rest }: WantedHistory): string {
  return JSON.stringify({ ...rest, codes: symbols.map(({ symbol }) => symbol) });
}

/** Whether the request of a history is only for its first symbol: a unit is not for all of them. */
export function isOfFirstSymbol({ request, series }: History): boolean {
  return series.length > 1 && new URLSearchParams(request.split('?')[1]).has('unit');
}

/** The request for the days that a chart shows: it has loaded more than these. */
export function requestShown({ request }: History, { first }: DaySpan): string {
  const [path, query] = request.split('?');
  const params = new URLSearchParams(query);
  if (params.get('startDate')! < first) params.set('startDate', first);
  return `${path}?${params}`;
}

/** The same history with older bars before it. */
export function prepend(older: History, history: History): History {
  const series = history.series.map((one, i) => ({
    ...one,
    bars: [...(older.series[i]?.bars ?? []), ...one.bars],
  }));
  return { ...history, series, first: older.first };
}

export function isEmpty({ series }: History): boolean {
  return series.every(({ bars }) => bars.length === 0);
}

/** Whether a history is another load of the same one, from the same sources: real bars do not continue simulated ones. */
export function isContinuedBy({ id, series }: History, next: History): boolean {
  return id === next.id && series.every(({ source }, i) => source === next.series[i]?.source);
}

/** The series. If the first has no bars from a day on, those that end before it are empty: their bars belong to another range. */
export function withoutOthers(series: readonly ChartSeries[], first: string): readonly ChartSeries[] {
  const hasEnded = ({ bars }: ChartSeries) => (bars.at(-1)?.date ?? '') < first;
  if (!series[0] || !hasEnded(series[0])) return series;
  return series.map((one) => (hasEnded(one) ? { ...one, bars: [] } : one));
}

/** The request as parameters of openpit-client. */
type Query = Range & HistoryParameters;

function queryOf(
  { currency, first, last, interval }: WantedHistory,
  symbols: readonly MarketSymbol[],
  unit: string | undefined,
): Query {
  const codes = symbols.map(({ symbol }) => symbol);
  return { symbols: codes, from: first, to: last, unit, quote: currency, interval };
}

async function fromHistory(key: string, query: Query, _plan: PlanRecord, signal: AbortSignal): Promise<Rows> {
  const rows: HistoryRow[] = [];
  const metadata: Rows['metadata'] = {};
  let requests = 0;
  for await (const page of clientOf(key).history(query, { signal })) {
    rows.push(...page.rates);
    requests++;
    for (const [code, own] of Object.entries(page.metadata ?? {})) {
      const sources = `${metadata[code]?.source ?? 'none'}, ${own.source}`.split(', ');
      const named = sources.filter((name) => name !== 'none'); // a page without prices of the symbol
      metadata[code] = { ...own, source: [...new Set(named)].join(', ') || 'none' };
    }
  }
  return { rows, metadata, request: pathOf('/rates/history', query), requests };
}

/** For plans without long history: as many requests as the plan's limit of days makes necessary. */
async function fromTimeSeries(
  key: string,
  { interval: _, ...query }: Query,
  { maxSpanDays }: PlanRecord,
  signal: AbortSignal,
): Promise<Rows> {
  const queries = spans(query.from, query.to, Math.max(1, maxSpanDays)).map(([from, to]) => ({
    ...query,
    from,
    to,
  }));
  const answers = await Promise.all(queries.map((one) => clientOf(key).timeSeries(one, { signal })));
  return {
    rows: answers.flatMap(({ rates }) => rowsOf(rates)),
    metadata: Object.assign({}, ...answers.map((answer) => answer.metadata)),
    request: pathOf('/rates/time-series', queries.at(-1)!),
    requests: queries.length,
  };
}

/** The request as a path, to copy. */
function pathOf(path: string, { from, to, ...others }: Query): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...others, startDate: from, endDate: to })) {
    if (value !== undefined) query.set(name, String(value));
  }
  return `${path}?${query}`;
}

function rowsOf(rates: TimeSeries['rates']): HistoryRow[] {
  return Object.entries(rates).flatMap(([date, symbols]) =>
    Object.entries(symbols).map(([symbol, record]) => ({ date, symbol, ...record })),
  );
}

function seriesOf(symbols: readonly MarketSymbol[], { rows, metadata }: Rows): ChartSeries[] {
  const bySymbol = Map.groupBy(rows, ({ symbol }) => symbol);
  // The service normalizes formulas, so series are matched by the order of the request.
  const names = Object.keys(metadata);
  return symbols.map((symbol, i) => {
    const name = isFormula(symbol.symbol) ? (names[i] ?? symbol.symbol) : symbol.symbol;
    const { unit, quote, source = '' } = metadata[name] ?? {};
    const bars = bySymbol.get(name) ?? [];
    const factor = bars.at(-1)?.factor ?? 1;
    return {
      symbol,
      bars,
      unit: unit ?? symbol.unit.symbol,
      quote: quote ?? symbol.currency.code,
      source: source === 'none' ? '' : source,
      factor,
      isPublished: factor === 1 && symbol.formula === undefined,
    };
  });
}
