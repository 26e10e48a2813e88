import type { Prices } from '../../../board/views/prices.ts';
import { utcDay } from '../../../market/day.ts';
import { MINUTE_MS } from '../../../market/intraday/interval.ts';
import type { Answer, Content } from '../../model/answer.ts';
import type { EndpointContext } from '../../model/endpoint.ts';
import type { FlatColumn, FlatTable } from '../../model/table.ts';
import { printCursor } from '../../params/cursor.ts';
import { finalityOf } from '../../params/parameters.ts';
import { HistoryPage } from '../history-page.ts';
import { intervalColumns, rowWriter } from '../interval-table.ts';
import { widePage } from '../wide-table.ts';
import type { IntradayQuery } from './intraday-query.ts';
import { type IntradayRows, readIntradayPage } from './intraday-rows.ts';
import { intradayWarnings } from './intraday-warnings.ts';

/** A page of bars shorter than a day. Tables are read in pages, too, which `LedgerTableSource` joins. */
export async function intradayAnswer(
  query: IntradayQuery,
  prices: Prices,
  context: EndpointContext,
): Promise<Answer> {
  const { symbols, cursorScope, last } = query;
  const horizon = context.now - prices.delayMs;
  const past = context.past!;
  const { rows, next } = await readIntradayPage(query, prices, past, horizon);
  const found = new Set(rows.map(({ symbolIndex }) => symbolIndex));
  const missing = symbols.filter((_, i) => !found.has(i));
  const cursor =
    next && printCursor({ day: next.at / MINUTE_MS, symbolIndex: next.symbolIndex }, cursorScope);
  return {
    content: contentOf(query, { rows, next }, cursor, prices, context),
    // The trade date of an evening is the next day.
    finality: finalityOf(utcDay(next?.at ?? last) + 1, symbols, horizon),
    next: cursor,
    warnings: await intradayWarnings(query, missing, prices, past),
  };
}

function contentOf(
  query: IntradayQuery,
  { rows }: IntradayRows,
  cursor: string | undefined,
  prices: Prices,
  { board, format }: EndpointContext,
): Content {
  const { symbols, fields, wideField, startDate, endDate, interval, metadata } = query;
  if (format === 'json') {
    const page = new HistoryPage(symbols, fields);
    for (const row of rows) page.add(row);
    const start = `{"success":true,"startDate":"${startDate}","endDate":"${endDate}","interval":"${interval}"`;
    const end = metadata ? `,"metadata":${page.metadataJson(board, prices)}}` : '}';
    return { json: `${start},"rates":${page.ratesJson()},"next":${JSON.stringify(cursor ?? null)}${end}` };
  }
  if (wideField !== undefined) return timed(widePage(rows, symbols, fields, wideField));
  return timed({
    columns: intervalColumns(fields),
    rows: rows.map(rowWriter(board, symbols, prices, fields)),
  });
}

function timed(table: FlatTable): FlatTable {
  return { ...table, columns: timedColumns(table.columns) };
}

/** The columns of intervals shorter than a day: their dates are times. */
export function timedColumns(columns: readonly FlatColumn[]): FlatColumn[] {
  return columns.map((one) => (one.type === 'date' ? { ...one, type: 'time' } : one));
}
