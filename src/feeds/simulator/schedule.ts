import type { Day } from '../../market/day.ts';
import { type Market, sessionEnd, sessionStart, tradeDate } from '../../market/session.ts';
import type { SymbolRecord } from '../../market/symbol.ts';
import { isTradingDay } from './calendar.ts';
import { seedOf } from './noise.ts';

/** One market's trading on one trade date: from `start` up to, not including, `end`. */
export interface Session {
  day: Day;
  start: number;
  end: number;
}

const MINUTE_MS = 60_000;
/** Ticks of the past, made at a start, are this far apart. */
export const SPARSE_MS = 10 * MINUTE_MS;

/** The session that is running at a moment, if one is. */
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

/** The moments of a symbol's ticks within a session: first, first + period, …, last. */
export interface Timetable {
  first: number;
  last: number;
  periodMs: number;
}

/** Each symbol ticks at an offset of its own, so that the stream of all of them is an even one. */
export function timetableOf(
  symbol: Pick<SymbolRecord, 'code' | 'updateInterval'>,
  session: Session,
): Timetable {
  const periodMs = symbol.updateInterval === 'minute' ? MINUTE_MS : SPARSE_MS;
  const first = session.start + (seedOf(`${symbol.code} offset`) % periodMs);
  const last = first + Math.floor((session.end - 1 - first) / periodMs) * periodMs;
  return { first, last, periodMs };
}

/** Every moment in (after, upTo]. */
export function momentsIn(timetable: Timetable, after: number, upTo: number): number[] {
  const { first, last, periodMs } = timetable;
  const start = after < first ? first : first + (Math.floor((after - first) / periodMs) + 1) * periodMs;
  const moments: number[] = [];
  for (let at = start; at <= Math.min(upTo, last); at += periodMs) moments.push(at);
  return moments;
}

/** The moments up to `upTo` at ten minutes' distance, and the newest one: enough for the bar so far. */
export function sparseMomentsIn(timetable: Timetable, upTo: number): number[] {
  const moments = momentsIn({ ...timetable, periodMs: SPARSE_MS }, timetable.first - 1, upTo);
  const newest = momentsIn(timetable, upTo - timetable.periodMs, upTo).at(-1) ?? timetable.last;
  if (moments.length > 0 && moments.at(-1)! < newest) moments.push(newest);
  return moments;
}
