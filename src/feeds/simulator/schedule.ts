import type { Day } from '../../market/day.ts';
import {
  type Market,
  sessionEnd,
  sessionStart,
  type TradingHours,
  tradeDate,
  tradingHours,
} from '../../market/session.ts';
import type { SymbolRecord } from '../../market/symbol.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { firstOfMonth, isLastOfWeek, isTradingDay } from './calendar.ts';
import { seedOf } from './noise.ts';

/** The session of a market on a trade date: `start` ≤ t < `end`, except for its breaks. */
export interface Session {
  day: Day;
  start: number;
  end: number;
  hours: readonly TradingHours[];
}

/** The distance of ticks that are generated for the past. */
export const SPARSE_MS = 10 * MINUTE_MS;

/** The session that is open at a time, if any. It may be in a break. */
export function runningSession(market: Market, ms: number): Session | undefined {
  const session = sessionOf(market, tradeDate(market, ms));
  return session && session.start <= ms && ms < session.end ? session : undefined;
}

/** The session of a trade date, if it is a trading day. */
export function sessionOf(market: Market, day: Day): Session | undefined {
  if (!isTradingDay(day)) return undefined;
  const [start, end] = [sessionStart(market, day), sessionEnd(market, day)];
  return { day, start, end, hours: tradingHours(market, day) };
}

/** The last trading day whose session has ended. */
export function lastClosedDay(market: Market, now: number): Day {
  let day = tradeDate(market, now);
  while (!isTradingDay(day) || sessionEnd(market, day) > now) day--;
  return day;
}

/** The day of the newest value that is published: a month's value belongs to its first day and appears after its last. */
export function lastPublishedDay({ updateInterval }: Pick<SymbolRecord, 'updateInterval'>, closed: Day): Day {
  if (updateInterval === 'month') return firstOfMonth(firstOfMonth(closed) - 1);
  let day = closed;
  if (updateInterval === 'week') while (!isTradingDay(day) || !isLastOfWeek(day)) day--;
  return day;
}

/** Whether a symbol has live prices. Weekly and monthly ones only have a value for each period. */
export function isLive({ updateInterval }: Pick<SymbolRecord, 'updateInterval'>): boolean {
  return updateInterval === 'minute' || updateInterval === 'day';
}

/** When a symbol ticks within a session: after first, first + period, …, last ms of trading. Breaks do not count. */
export interface Timetable {
  first: number;
  last: number;
  periodMs: number;
  hours: readonly TradingHours[];
}

/** Each symbol has its own offset, so that ticks are spread evenly. */
export function timetableOf(
  symbol: Pick<SymbolRecord, 'code' | 'updateInterval'>,
  { hours }: Session,
): Timetable {
  const periodMs = symbol.updateInterval === 'minute' ? MINUTE_MS : SPARSE_MS;
  const first = seedOf(`${symbol.code} offset`) % periodMs;
  const tradedMs = hours.reduce((sum, { start, end }) => sum + end - start, 0);
  const last = first + Math.floor((tradedMs - 1 - first) / periodMs) * periodMs;
  return { first, last, periodMs, hours };
}

/** How long the market has traded at a time of its session. */
export function tradedMs({ hours }: Pick<Timetable, 'hours'>, ms: number): number {
  let sum = 0;
  for (const { start, end } of hours) sum += Math.min(Math.max(ms - start, 0), end - start);
  return sum;
}

/** The time at which the market has traded for this long. */
function instantAfter({ hours }: Timetable, traded: number): number {
  let left = traded;
  for (const { start, end } of hours) {
    if (left < end - start) return start + left;
    left -= end - start;
  }
  return hours.at(-1)!.end + left;
}

/** All times in (after, upTo]. */
export function momentsIn(timetable: Timetable, after: number, upTo: number): number[] {
  const { first, last, periodMs } = timetable;
  const skipped = Math.max(0, Math.floor((tradedMs(timetable, after) - first) / periodMs));
  const moments: number[] = [];
  for (let traded = first + skipped * periodMs; traded <= last; traded += periodMs) {
    const at = instantAfter(timetable, traded);
    if (at > upTo) break;
    if (at > after) moments.push(at);
  }
  return moments;
}

/** Times up to `upTo`, ten minutes apart, and the newest one: enough for the bar so far. */
export function sparseMomentsIn(timetable: Timetable, upTo: number): number[] {
  const moments = momentsIn({ ...timetable, periodMs: SPARSE_MS }, 0, upTo);
  const traded = Math.min(tradedMs(timetable, upTo), timetable.last);
  const { first, periodMs } = timetable;
  const newest = instantAfter(timetable, first + Math.floor((traded - first) / periodMs) * periodMs);
  if (moments.length > 0 && moments.at(-1)! < newest && newest <= upTo) moments.push(newest);
  return moments;
}
