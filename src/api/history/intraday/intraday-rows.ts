import type { Series } from '../../../board/series/series.ts';
import type { Prices } from '../../../board/views/prices.ts';
import { Closes, rowsBack } from '../../../market/analytics/closes.ts';
import { MS_PER_DAY } from '../../../market/day.ts';
import { INTRADAY_MS, startOf } from '../../../market/intraday/interval.ts';
import { symbolSeriesOf } from '../../formulas/formula-parts.ts';
import type { LedgerReads } from '../../model/endpoint.ts';
import { ROWS_PER_UNIT } from '../../model/long-table.ts';
import type { IntervalRow } from '../interval-rows.ts';
import type { IntradayCursor, IntradayQuery } from './intraday-query.ts';

/** An intraday row has a time. */
export interface IntradayRow extends IntervalRow {
  at: number;
}

/** How intraday bars are read from the ledger. */
export type IntradayReads = Pick<LedgerReads, 'loadIntraday' | 'nextIntraday'>;

/** The rows of a page, and where the next page starts. */
export interface IntradayRows {
  rows: IntradayRow[];
  next: IntradayCursor | undefined;
}

/** Reads a page that starts at the query's cursor, up to the plan's horizon. */
export async function readIntradayPage(
  query: IntradayQuery,
  prices: Prices,
  past: IntradayReads,
  now: number,
): Promise<IntradayRows> {
  const { symbols, from, last, wideField } = query;
  const keepsTimesWhole = wideField !== undefined;
  const rowsMax = keepsTimesWhole ? Math.max(ROWS_PER_UNIT, symbols.length) : ROWS_PER_UNIT;
  const closes = await closesBefore(query, prices, past);
  const rows: IntradayRow[] = [];
  for await (const window of windows(query, { from: from.at, to: Math.min(last, now) }, prices, past)) {
    for (const row of window) {
      if (row.at === from.at && row.symbolIndex < from.symbolIndex) continue;
      derive(row, closes);
      rows.push(row);
    }
    const next = rows[rowsMax];
    if (!next) continue;
    if (!keepsTimesWhole) return { rows: rows.slice(0, rowsMax), next };
    return { rows: rows.filter(({ at }) => at < next.at), next: { at: next.at, symbolIndex: 0 } };
  }
  return { rows, next: undefined };
}

/** All rows from the query's cursor up to `now`, in order, a part at a time. */
export async function* intradayPieces(
  query: IntradayQuery,
  prices: Prices,
  past: IntradayReads,
  { now, rowsPerRead }: { now: number; rowsPerRead: number },
): AsyncGenerator<IntradayRow[]> {
  const span = { from: query.from.at, to: Math.min(query.last, now) };
  const closes = await closesBefore(query, prices, past);
  for await (const rows of windows(query, span, prices, past, rowsPerRead)) {
    for (const row of rows) derive(row, closes);
    yield rows;
  }
}

/** Rows that are read at once, if every interval has one. It bounds the memory of a request. */
export const ROWS_READ_MAX = 50_000;

/**
 * The rows of a span (both ends included), in order, a window of about `rowsPerRead` at a time. After an empty window, the next
 * one is longer and begins where there may be rows.
 */
async function* windows(
  { symbols, interval }: IntradayQuery,
  span: { from: number; to: number },
  prices: Prices,
  past: IntradayReads,
  rowsPerRead = ROWS_PER_UNIT,
): AsyncGenerator<IntradayRow[]> {
  const ms = INTRADAY_MS[interval];
  const pageMs = timeOf(rowsPerRead, symbols.length, ms);
  let length = pageMs;
  for (let from = span.from; from <= span.to; ) {
    const to = Math.min(from + length, span.to + ms);
    await past.loadIntraday({ from, to }, interval);
    const rows = symbols.flatMap(({ series }, symbolIndex) => rowsOf(prices, series, symbolIndex));
    rows.sort((a, b) => a.at - b.at || a.symbolIndex - b.symbolIndex);
    yield rows;
    from = to;
    length = pageMs;
    if (rows.length > 0) continue;
    length = Math.min(2 * length, timeOf(ROWS_READ_MAX, symbols.length, ms));
    const next = await past.nextIntraday(to, interval);
    if (next === undefined) return;
    from = Math.max(to, startOf(next, ms));
  }
}

/** The time in which some symbols together have at most `rows` rows, but at least one each. */
function timeOf(rows: number, symbolCount: number, ms: number): number {
  return Math.max(1, Math.floor(rows / symbolCount)) * ms;
}

function rowsOf(prices: Prices, series: Series, symbolIndex: number): IntradayRow[] {
  return prices.intraday!(series).map((bar) => ({
    ...bar,
    bars: bar.minutes,
    factor: bar.factor,
    symbolIndex,
  }));
}

function derive(row: IntradayRow, closes: readonly Closes[] | undefined): void {
  const own = closes?.[row.symbolIndex];
  if (!own) return;
  own.add(row);
  row.transformed = own.transformed();
  row.movingAverage = own.movingAverage();
}

/** How far back the rows before a request are looked for: a week without trading, and more for long periods. */
const LOOK_BACK_MS = 7 * MS_PER_DAY;

/**
 * The closes that the first rows of a page are compared with; undefined if nothing is derived. An index starts with the
 * first row of the request.
 */
async function closesBefore(
  query: IntradayQuery,
  prices: Prices,
  past: IntradayReads,
): Promise<Closes[] | undefined> {
  const { derivation, symbols, from, first } = query;
  if (!derivation) return undefined;
  const isFirstPage = from.at === first && from.symbolIndex === 0;
  const bases =
    derivation.transform === 'index' && !isFirstPage ? await firstCloses(query, prices, past) : [];
  const before = await rowsBefore(query, rowsBack(derivation), prices, past);
  return symbols.map(({ series }, i) => {
    const closes = new Closes(derivation, 'day', series.symbol.decimals, bases[i]);
    for (const row of before[i]!) closes.add(row);
    return closes;
  });
}

/**
 * The last `count` rows of each symbol before a page, in order. They are looked for throughout the range, so that every row
 * is what it would be on a single page; each time further back, and only for the symbols that lack some and may have more.
 */
async function rowsBefore(
  { symbols, from, first, interval }: IntradayQuery,
  count: number,
  prices: Prices,
  past: IntradayReads,
): Promise<IntradayRow[][]> {
  const found: IntradayRow[][] = symbols.map(() => []);
  const ms = INTRADAY_MS[interval];
  const earliest = startOf(first - 4 * count * ms - LOOK_BACK_MS, ms);
  let length = 4 * count * ms;
  let lacking = count > 0 ? [...symbols.entries()] : [];
  for (let to = from.at + ms; to > earliest && lacking.length > 0; ) {
    const begin = Math.max(earliest, to - Math.min(length, timeOf(ROWS_READ_MAX, lacking.length, ms)));
    const series = symbolSeriesOf(lacking.map(([, requested]) => requested));
    await past.loadIntraday({ from: begin, to }, interval, series);
    const left: typeof lacking = [];
    for (const [i, requested] of lacking) {
      const isBefore = ({ at }: IntradayRow) => at < from.at || (at === from.at && i < from.symbolIndex);
      const rows = rowsOf(prices, requested.series, i).filter(isBefore);
      found[i] = [...rows, ...found[i]!].slice(-count);
      if (found[i].length < count) left.push([i, requested]);
    }
    lacking = [];
    for (const [i, requested] of left) {
      const next = await past.nextIntraday(earliest, interval, symbolSeriesOf([requested]));
      if (next !== undefined && next < begin) lacking.push([i, requested]);
    }
    to = begin;
    length *= 2;
  }
  return found;
}

/** The close of each symbol's first row. */
async function firstCloses(
  query: IntradayQuery,
  prices: Prices,
  past: IntradayReads,
): Promise<(number | undefined)[]> {
  const found: (number | undefined)[] = query.symbols.map(() => undefined);
  const span = { from: query.first, to: query.from.at };
  for await (const rows of windows(query, span, prices, past)) {
    for (const { symbolIndex, close } of rows) found[symbolIndex] ??= close;
    if (!found.includes(undefined)) break;
  }
  return found;
}
