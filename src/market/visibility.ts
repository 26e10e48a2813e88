import type { Day } from './day.ts';
import { hasEnded, type Market } from './session.ts';

/**
 * Who may see what, and when. A plan with delay d sees the market as it was d ago: at time t it sees what
 * was there at its horizon, t − d. These functions say from which horizon on a thing can be seen.
 */

/** A tick is there once it was made and once it was received, whichever is later. */
export function tickSeenFrom(tick: { at: number; received: number }): number {
  return Math.max(tick.at, tick.received);
}

/**
 * A bar revision is there once its session has ended, or once it was recorded, whichever is earlier: history
 * that is imported years later shows at once, and a settlement shows `d` after it happened.
 */
export function barSeenFrom(sessionEndMs: number, recordedAt: number): number {
  return Math.min(sessionEndMs, recordedAt);
}

/**
 * Whether a tick of a day whose bar was withdrawn still counts: only prices made after the withdrawal do. Those before it
 * are what was withdrawn.
 */
export function outlivesWithdrawal(tick: { at: number }, withdrawal: { recordedAt: number }): boolean {
  return tick.at > withdrawal.recordedAt;
}

/** Whether it is there at a horizon: the same, told without the hour at which a session ended long ago. */
export function isBarSeen(bar: { day: Day; recordedAt: number }, market: Market, horizon: number): boolean {
  return bar.recordedAt <= horizon || hasEnded(market, bar.day, horizon);
}
