import { type BarRevision, PROVISIONAL } from '../../ledger/prices/bars.ts';
import type { Closing } from '../../ledger/prices/session-bars.ts';
import type { FoldedDay, FoldLimits } from '../../ledger/ticks/fold-day.ts';
import { ohlcOf, sameOhlc } from '../../market/bar.ts';

const FIRST = 'session close';
const AGAIN = 'late ticks';
/** Bars with these reasons came from here. */
const OURS: ReadonlySet<string | null> = new Set([PROVISIONAL, FIRST, AGAIN]);

/**
 * Which ticks a day's bar is made of: those up to `settlement`, or, without one, all of a session that has ended. After a
 * withdrawal only prices made later count; those before are what was withdrawn. Undefined when the bar stays as it is
 * whatever the ticks say: a bar from elsewhere (an import, a feed) is better than ours.
 */
export function limitsOf(current: BarRevision | undefined, settlement?: number): FoldLimits | undefined {
  const limits = { madeBy: settlement ?? Number.MAX_SAFE_INTEGER, receivedBy: Number.MAX_SAFE_INTEGER };
  if (current?.withdrawn) return { ...limits, madeAfter: current.recordedAt };
  if (current && !OURS.has(current.reason)) return undefined;
  if (current && settlement !== undefined && current.reason !== PROVISIONAL) return undefined;
  return limits;
}

/** The bar to publish for a day whose ticks, within `limitsOf`, are folded; undefined when it should stay as it is. */
export function closingOf(
  current: BarRevision | undefined,
  folded: FoldedDay | undefined,
  settlement?: number,
): Closing | undefined {
  if (!folded) return undefined;
  const closing = { ...ohlcOf(folded), sourceId: folded.close.sourceId };
  if (!current || current.withdrawn) {
    return { ...closing, reason: settlement === undefined ? FIRST : PROVISIONAL };
  }
  // A day's old ticks are deleted together. Once those of the bar are gone, a straggler alone says nothing of the day.
  if (folded.firstRevision >= current.revision || sameOhlc(current, closing)) return undefined;
  if (settlement !== undefined) return { ...closing, reason: PROVISIONAL };
  return { ...closing, reason: current.reason === PROVISIONAL ? FIRST : AGAIN };
}
