import type { Day } from '../../market/day.ts';
import { type Market, sessionEnd, sessionStart, tradeDate } from '../../market/session.ts';
import type { SymbolRecord } from '../../market/symbol.ts';
import { isTradingDay } from './calendar.ts';
import { seedOf } from './noise.ts';

/** The session of a market on a trade date: `start` ≤ t < `end`. */
export interface Session {
  day: Day;
  start: number;
  end: number;
}

const MINUTE_MS = 60_000;
/** The distance of ticks that are generated for the past. */
export const SPARSE_MS = 10 * MINUTE_MS;

/** The session that is open at a time, if any. */
export function runningSession(market: Market, ms: number): Session | undefined {
  const session = sessionOf(market, tradeDate(market, ms));
  return session && session.start <= ms && ms < session.end ? session : undefined;
}

/** The session of a trade date, if it is a trading day. */
export function sessionOf(market: Market, day: Day): Session | undefined {
  if (!isTradingDay(day)) return undefined;
  return { day, start: sessionStart(market, day), end: sessionEnd(market, day) };
}

/** The last trading day whose session has ended. */
export function lastClosedDay(market: Market, now: number): Day {
  let day = tradeDate(market, now);
  while (!isTradingDay(day) || sessionEnd(market, day) > now) day--;
  return day;
}

/** The times of a symbol's ticks within a session: first, first + period, …, last. */
export interface Timetable {
  first: number;
  last: number;
  periodMs: number;
}

/** Each symbol has its own offset, so that ticks are spread evenly. */
export function timetableOf(
  symbol: Pick<SymbolRecord, 'code' | 'updateInterval'>,
  session: Session,
): Timetable {
  const periodMs = symbol.updateInterval === 'minute' ? MINUTE_MS : SPARSE_MS;
  const first = session.start + (seedOf(`${symbol.code} offset`) % periodMs);
  const last = first + Math.floor((session.end - 1 - first) / periodMs) * periodMs;
  return { first, last, periodMs };
}

/** All times in (after, upTo]. */
export function momentsIn(timetable: Timetable, after: number, upTo: number): number[] {
  const { first, last, periodMs } = timetable;
  const start = after < first ? first : first + (Math.floor((after - first) / periodMs) + 1) * periodMs;
  const moments: number[] = [];
  for (let at = start; at <= Math.min(upTo, last); at += periodMs) moments.push(at);
  return moments;
}

/** Times up to `upTo`, ten minutes apart, and the newest one: enough for the bar so far. */
export function sparseMomentsIn(timetable: Timetable, upTo: number): number[] {
  const moments = momentsIn({ ...timetable, periodMs: SPARSE_MS }, timetable.first - 1, upTo);
  const newest = momentsIn(timetable, upTo - timetable.periodMs, upTo).at(-1) ?? timetable.last;
  if (moments.length > 0 && moments.at(-1)! < newest) moments.push(newest);
  return moments;
}
