import type { Ledger } from '../../../ledger/ledger.ts';
import type { BarRevision } from '../../../ledger/prices/bars.ts';
import type { PriceOrigin } from '../../../ledger/symbols/origin.ts';
import type { Day } from '../../../market/day.ts';
import { shouldYield, yieldToRequests } from '../../../runtime/yield.ts';
import { Columns } from '../bars/columns.ts';

/** Days of a history per read, which takes about a millisecond. */
const DAYS_PER_READ = 2_000;

export interface LoadColumnsOptions {
  ledger: Ledger;
  symbolId: number;
  origin: PriceOrigin;
  /** From the first to the last day that ever had a bar, if any. */
  span: { firstDay: Day; lastDay: Day } | undefined;
  /** Bars of earlier days are not read. */
  from: Day;
  /** All bars up to this day are settled. */
  settledUntil: Day;
  isSettled(bar: BarRevision): boolean;
}

/** Reads the settled bars in parts: a century of days takes tens of milliseconds, too long to block requests. */
export async function loadColumns(options: LoadColumnsOptions): Promise<Columns> {
  const { span, from: earliest, settledUntil } = options;
  const columns = new Columns(earliest);
  if (!span) return columns;
  const [firstDay, lastDay] = [Math.max(span.firstDay, earliest), span.lastDay];
  const settledLast = Math.min(lastDay, settledUntil);
  for (let from = firstDay; from <= settledLast; from += DAYS_PER_READ) {
    if (shouldYield()) await yieldToRequests();
    await addHistory(columns, options, from, Math.min(from + DAYS_PER_READ - 1, settledLast));
  }
  await addRecent(columns, options, Math.max(firstDay, settledUntil + 1), lastDay);
  columns.trim();
  return columns;
}

async function addHistory(
  columns: Columns,
  { ledger, symbolId, origin }: LoadColumnsOptions,
  first: Day,
  last: Day,
): Promise<void> {
  const ohlc = { open: 0, high: 0, low: 0, close: 0 };
  for (const row of await ledger.bars.history(symbolId, origin, first, last)) {
    ohlc.open = row[1];
    ohlc.high = row[2];
    ohlc.low = row[3];
    ohlc.close = row[4];
    if (row[6] > 0) columns.remove(row[0]);
    else columns.set(row[0], ohlc, row[5]);
  }
}

async function addRecent(
  columns: Columns,
  { ledger, symbolId, origin, isSettled }: LoadColumnsOptions,
  first: Day,
  last: Day,
): Promise<void> {
  if (first > last) return;
  for (const bar of await ledger.bars.revisions(symbolId, origin, first, last)) {
    // While some views do not show a withdrawal yet, the views hold both it and the withdrawn bar.
    if (bar.withdrawn) columns.remove(bar.day);
    else if (isSettled(bar)) columns.set(bar.day, bar, bar.sourceId);
  }
}
