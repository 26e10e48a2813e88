import {
  type BarRevision,
  LATE_TICKS,
  PROVISIONAL,
  SESSION_CLOSE,
  TICK_REASONS,
} from '../../ledger/prices/bars.ts';
import type { Closing } from '../../ledger/prices/session-bars.ts';
import type { FoldedDay, FoldLimits } from '../../ledger/ticks/fold-day.ts';
import { ohlcOf, sameOhlc } from '../../market/bar.ts';

/**
 * Which ticks make up the bar of a day: those made by the settlement or, for the final bar, by a later moment. After a
 * withdrawal only later ticks count. Undefined if the current bar stays, whatever the ticks: a bar of an import or a feed takes precedence.
 */
export function limitsOf(
  current: BarRevision | undefined,
  madeBy: number,
  isFinal: boolean,
): FoldLimits | undefined {
  const limits = { madeBy, receivedBy: Number.MAX_SAFE_INTEGER };
  if (current?.withdrawn) return { ...limits, madeAfter: current.recordedAt };
  if (current && !TICK_REASONS.has(current.reason)) return undefined;
  if (current && !isFinal && current.reason !== PROVISIONAL) return undefined;
  return limits;
}

/** The bar to publish for a day, from its ticks within `limitsOf`. Undefined if the current bar stays. */
export function closingOf(
  current: BarRevision | undefined,
  folded: FoldedDay | undefined,
  isFinal: boolean,
): Closing | undefined {
  if (!folded) return undefined;
  const closing = { ...ohlcOf(folded), sourceId: folded.close.sourceId };
  if (!current || current.withdrawn) {
    return { ...closing, reason: isFinal ? SESSION_CLOSE : PROVISIONAL };
  }
  // If the bar's own ticks were deleted, a late tick alone does not make up the day.
  if (folded.firstRevision >= current.revision || sameOhlc(current, closing)) return undefined;
  if (!isFinal) return { ...closing, reason: PROVISIONAL };
  return { ...closing, reason: current.reason === PROVISIONAL ? SESSION_CLOSE : LATE_TICKS };
}
