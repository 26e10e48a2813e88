import type { Ledger } from '../../ledger/ledger.ts';
import type { BarRevision } from '../../ledger/prices/bars.ts';
import type { PriceOrigin } from '../../ledger/symbols/origin.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import { Columns } from './columns.ts';

/** Days of a history per read. */
const DAYS_PER_READ = 2_000;
const NO_DAYS = { firstDay: 0, lastDay: -1 };

/** Reads the settled bars in parts: a century of days takes tens of milliseconds, too long to block requests. */
export async function loadColumns(
  ledger: Ledger,
  symbolId: number,
  origin: PriceOrigin,
  isSettled: (bar: BarRevision) => boolean,
): Promise<Columns> {
  const { firstDay, lastDay } = (await ledger.bars.span(symbolId, origin)) ?? NO_DAYS;
  const columns = new Columns();
  for (let from = firstDay; from <= lastDay; from += DAYS_PER_READ) {
    if (shouldYield()) await yieldToRequests();
    const to = from + DAYS_PER_READ - 1;
    for (const bar of await ledger.bars.revisions(symbolId, origin, from, to)) {
      // While some views do not show a withdrawal yet, the views hold both it and the withdrawn bar.
      if (bar.withdrawn) columns.remove(bar.day);
      else if (isSettled(bar)) columns.set(bar.day, bar, bar.sourceId);
    }
  }
  columns.trim();
  return columns;
}
