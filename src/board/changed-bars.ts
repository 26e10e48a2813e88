import type { Ledger } from '../ledger/ledger.ts';
import type { BarRevision } from '../ledger/prices/bars.ts';
import { shouldYield, yieldToRequests } from '../runtime/yield.ts';

/** A change of more days is not applied bar by bar: the series is reset, and loaded again by the next request. */
const DAYS_PER_CHANGE_MAX = 400;

/** By symbol id: the new revisions, or `many` if there are too many to apply. */
export type ChangedBars = Map<number, BarRevision[] | 'many'>;

/** Reads the bar revisions after `from`, up to `to`. Calls `onChange` with each symbol and its last changed day. */
export async function readChangedBars(
  ledger: Ledger,
  from: number,
  to: number,
  onChange: (symbolId: number, lastDay: number) => void,
): Promise<ChangedBars> {
  const changed: ChangedBars = new Map();
  for (const { symbolId, firstDay, lastDay } of await ledger.bars.changes(from, to)) {
    if (shouldYield()) await yieldToRequests();
    onChange(symbolId, lastDay);
    if (lastDay - firstDay > DAYS_PER_CHANGE_MAX) {
      changed.set(symbolId, 'many');
      continue;
    }
    const revisions = await ledger.bars.revisions(symbolId, 'all', firstDay, lastDay);
    changed.set(
      symbolId,
      revisions.filter((bar) => bar.revision > from),
    );
  }
  return changed;
}
