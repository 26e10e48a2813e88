import { type BarRevision, PROVISIONAL } from '../ledger/bars.ts';
import type { Closing } from '../ledger/closing.ts';
import type { LedgerTick } from '../ledger/ticks.ts';
import { type Fold, foldTick, ohlcOf, sameOhlc } from '../market/bar.ts';
import { outlivesWithdrawal } from '../market/visibility.ts';

const FIRST = 'session close';
const AGAIN = 'late ticks';
/** Bars with these reasons came from here. */
const OURS: ReadonlySet<string | null> = new Set([PROVISIONAL, FIRST, AGAIN]);

/**
 * The bar to publish for a day: provisionally from the ticks up to `settlement`, or, without one, from all ticks of a
 * session that has ended. A day without a bar gets the fold of its ticks. A bar that came from here follows late
 * ticks. A bar from elsewhere (an import, a feed) is better than ours and stays.
 */
export async function closingOf(
  current: BarRevision | undefined,
  readTicks: () => Promise<LedgerTick[]>,
  settlement?: number,
): Promise<Closing | undefined> {
  if (current?.withdrawn) return foldedAfter(current, await readTicks(), settlement);
  if (current && !OURS.has(current.reason)) return undefined;
  if (current && settlement !== undefined && current.reason !== PROVISIONAL) return undefined;
  const ticks = (await readTicks()).filter((tick) => settlement === undefined || tick.at <= settlement);
  // Old ticks are let go of all together. When those of the bar have gone, a straggler alone says nothing of the day.
  if (current && !ticks.some((tick) => tick.revision < current.revision)) return undefined;
  const reason = settlement !== undefined ? PROVISIONAL : isLate(current) ? AGAIN : FIRST;
  const closing = closingFrom(ticks, reason);
  return closing && current && sameOhlc(current, closing) ? undefined : closing;
}

/** After a withdrawal, the day is made of the ticks that outlive it; those before are what was withdrawn. */
function foldedAfter(
  withdrawal: BarRevision,
  ticks: readonly LedgerTick[],
  settlement: number | undefined,
): Closing | undefined {
  const left = ticks.filter(
    (tick) => outlivesWithdrawal(tick, withdrawal) && (settlement === undefined || tick.at <= settlement),
  );
  return closingFrom(left, settlement === undefined ? FIRST : PROVISIONAL);
}

function closingFrom(ticks: readonly LedgerTick[], reason: string): Closing | undefined {
  let fold: Fold | undefined;
  // Two sources may use the same id for the same moment: the one that was known first goes first.
  for (const tick of ticks.toSorted((a, b) => a.sourceId - b.sourceId)) fold = foldTick(fold, tick);
  return fold && { ...ohlcOf(fold), sourceId: sourceOf(ticks, fold), reason };
}

/** Whether the session's own bar is there already. */
function isLate(current: BarRevision | undefined): boolean {
  return current !== undefined && current.reason !== PROVISIONAL;
}

function sourceOf(ticks: readonly LedgerTick[], fold: Fold): number {
  return ticks.find((tick) => tick === fold.close)!.sourceId;
}
