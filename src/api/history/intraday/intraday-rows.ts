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

/** The rows of a page, and where the next page starts. */
export interface IntradayRows {
  rows: IntradayRow[];
  next: IntradayCursor | undefined;
}

/** Reads a page that starts at the query's cursor, up to the plan's horizon. */
export async function readIntradayPage(
  query: IntradayQuery,
  prices: Prices,
  past: LedgerReads,
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
  past: Pick<LedgerReads, 'loadIntraday'>,
  { now, rowsPerRead }: { now: number; rowsPerRead: number },
): AsyncGenerator<IntradayRow[]> {
  const span = { from: query.from.at, to: Math.min(query.last, now) };
  const closes = await closesBefore(query, prices, past);
  for await (const rows of windows(query, span, prices, past, rowsPerRead)) {
    for (const row of rows) derive(row, closes);
    yield rows;
  }
}

/** The longest time that is read at once. */
const WINDOW_MS_MAX = 400 * MS_PER_DAY;

/** The rows of a span (both ends included), in order, a window of about `rowsPerRead` at a time. After an empty window the next is longer. */
async function* windows(
  { symbols, interval }: IntradayQuery,
  span: { from: number; to: number },
  prices: Prices,
  past: Pick<LedgerReads, 'loadIntraday'>,
  rowsPerRead = ROWS_PER_UNIT,
): AsyncGenerator<IntradayRow[]> {
  const ms = INTRADAY_MS[interval];
  const pageMs = Math.max(1, Math.floor(rowsPerRead / symbols.length)) * ms;
  let length = pageMs;
  for (let from = span.from; from <= span.to; ) {
    const to = Math.min(from + length, span.to + ms);
    await past.loadIntraday({ from, to }, interval);
    const rows = symbols.flatMap(({ series }, symbolIndex) => rowsOf(prices, series, symbolIndex));
    rows.sort((a, b) => a.at - b.at || a.symbolIndex - b.symbolIndex);
    yield rows;
    length = rows.length > 0 ? pageMs : Math.min(2 * length, WINDOW_MS_MAX);
    from = to;
  }
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
  past: Pick<LedgerReads, 'loadIntraday'>,
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
 * is what it would be on a single page; each time further back, and only for the symbols that lack some.
 */
async function rowsBefore(
  { symbols, from, first, interval }: IntradayQuery,
  count: number,
  prices: Prices,
  past: Pick<LedgerReads, 'loadIntraday'>,
): Promise<IntradayRow[][]> {
  const found: IntradayRow[][] = symbols.map(() => []);
  const ms = INTRADAY_MS[interval];
  const earliest = startOf(first - 4 * count * ms - LOOK_BACK_MS, ms);
  let length = 4 * count * ms;
  for (let to = from.at + ms; to > earliest; ) {
    const lacking = [...symbols.entries()].filter(([i]) => found[i]!.length < count);
    if (lacking.length === 0) break;
    const time = { from: Math.max(earliest, to - length), to };
    await past.loadIntraday(time, interval, symbolSeriesOf(lacking.map(([, requested]) => requested)));
    for (const [i, { series }] of lacking) {
      const isBefore = ({ at }: IntradayRow) => at < from.at || (at === from.at && i < from.symbolIndex);
      const rows = rowsOf(prices, series, i).filter(isBefore);
      found[i] = [...rows, ...found[i]!].slice(-count);
    }
    to = time.from;
    length = Math.min(2 * length, WINDOW_MS_MAX);
  }
  return found;
}

/** The close of each symbol's first row. */
async function firstCloses(
  query: IntradayQuery,
  prices: Prices,
  past: Pick<LedgerReads, 'loadIntraday'>,
): Promise<(number | undefined)[]> {
  const found: (number | undefined)[] = query.symbols.map(() => undefined);
  const span = { from: query.first, to: query.from.at };
  for await (const rows of windows(query, span, prices, past)) {
    for (const { symbolIndex, close } of rows) found[symbolIndex] ??= close;
    if (!found.includes(undefined)) break;
  }
  return found;
}
