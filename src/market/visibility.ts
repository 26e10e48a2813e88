/**
 * What a plan can see. A plan with delay d sees the market as it was d ago: at time t its horizon is t − d. These
 * functions return the horizon from which a tick or bar is visible.
 */

import type { Day } from './day.ts';
import { hasEnded, type Market } from './session.ts';

/** A tick is visible once it was made and received. */
export function tickSeenFrom(tick: { at: number; received: number }): number {
  return Math.max(tick.at, tick.received);
}

/**
 * A bar revision is visible once its session has ended or it was recorded, whichever is earlier: history that is imported
 * years later is visible immediately, and a settlement is visible `d` after it happened.
 */
export function barSeenFrom(sessionEndMs: number, recordedAt: number): number {
  return Math.min(sessionEndMs, recordedAt);
}

/**
 * Whether a tick of a day whose ticks were withdrawn up to a moment still counts: only ticks received later do, whenever
 * they were made. Earlier ones were withdrawn with the bar.
 */
export function outlivesWithdrawal(tick: { received: number }, withdrawnUntil: number): boolean {
  return tick.received > withdrawnUntil;
}

/** Whether a bar is visible at a horizon. Equivalent to `barSeenFrom`, without computing the session end of old days. */
export function isBarSeen(bar: { day: Day; recordedAt: number }, market: Market, horizon: number): boolean {
  return bar.recordedAt <= horizon || hasEnded(market, bar.day, horizon);
}
