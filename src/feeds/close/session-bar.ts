import { type BarRevision, PROVISIONAL } from '../../ledger/prices/bars.ts';
import type { Closing } from '../../ledger/prices/session-bars.ts';
import type { FoldedDay, FoldLimits } from '../../ledger/ticks/fold-day.ts';
import { ohlcOf, sameOhlc } from '../../market/bar.ts';

const SESSION_CLOSE = 'session close';
const LATE_TICKS = 'late ticks';
/** The reasons of bars that the closer published. */
const OWN_REASONS: ReadonlySet<string | null> = new Set([PROVISIONAL, SESSION_CLOSE, LATE_TICKS]);

/**
 * Which ticks make up the bar of a day: those up to `settlement` or, without one, all of the session. After a withdrawal only
 * later ticks count. Undefined if the current bar stays, whatever the ticks: a bar of an import or a feed takes precedence.
 */
export function limitsOf(current: BarRevision | undefined, settlement?: number): FoldLimits | undefined {
  const limits = { madeBy: settlement ?? Number.MAX_SAFE_INTEGER, receivedBy: Number.MAX_SAFE_INTEGER };
  if (current?.withdrawn) return { ...limits, madeAfter: current.recordedAt };
  if (current && !OWN_REASONS.has(current.reason)) return undefined;
  if (current && settlement !== undefined && current.reason !== PROVISIONAL) return undefined;
  return limits;
}

/** The bar to publish for a day, from its ticks within `limitsOf`. Undefined if the current bar stays. */
export function closingOf(
  current: BarRevision | undefined,
  folded: FoldedDay | undefined,
  settlement?: number,
): Closing | undefined {
  if (!folded) return undefined;
  const closing = { ...ohlcOf(folded), sourceId: folded.close.sourceId };
  if (!current || current.withdrawn) {
    return { ...closing, reason: settlement === undefined ? SESSION_CLOSE : PROVISIONAL };
  }
  // If the bar's own ticks were deleted, a late tick alone does not make up the day.
  if (folded.firstRevision >= current.revision || sameOhlc(current, closing)) return undefined;
  if (settlement !== undefined) return { ...closing, reason: PROVISIONAL };
  return { ...closing, reason: current.reason === PROVISIONAL ? SESSION_CLOSE : LATE_TICKS };
}
