import { type Day, isWeekend, MS_PER_DAY, printDay, utcDay } from './day.ts';
import { instantOf, QUARTER_MS, zoneOffset } from './zone.ts';

/** When a market trades, on its own clock. */
export interface Market {
  zone: string;
  /** The session of a trade date opens at this time… */
  opensAt: string;
  /** …on the date itself or on the evening before: Monday's opens on Sunday in the US, and on Friday in China. */
  opens: 'evening before' | 'weekday evening before' | 'same day';
  closesAt: string;
  /** When trading pauses within a session, in order. */
  breaks?: readonly { from: string; to: string }[];
  /** When the settlement price is determined, if that is before the close. */
  settlesAt?: string;
}

const LUNCH_IN_CHINA = { from: '11:30', to: '13:30' };

/**
 * Sessions by market. Zones are IANA names, never offsets: the US and the UK change their clocks in different
 * weeks. SPOT is for prices that are assessed rather than traded in a session.
 */
export const MARKETS: Readonly<Record<string, Market>> = {
  NYMEX: {
    zone: 'America/New_York',
    opensAt: '18:00',
    opens: 'evening before',
    closesAt: '17:00',
    settlesAt: '14:30',
  },
  COMEX: {
    zone: 'America/New_York',
    opensAt: '18:00',
    opens: 'evening before',
    closesAt: '17:00',
    settlesAt: '13:30',
  },
  CBOT: {
    zone: 'America/Chicago',
    opensAt: '19:00',
    opens: 'evening before',
    closesAt: '13:20',
    settlesAt: '13:15',
  },
  CME: { zone: 'America/Chicago', opensAt: '08:30', opens: 'same day', closesAt: '13:05' },
  'ICE-US': { zone: 'America/New_York', opensAt: '03:30', opens: 'same day', closesAt: '14:20' },
  'ICE-EU': { zone: 'Europe/London', opensAt: '01:00', opens: 'same day', closesAt: '23:00' },
  'ICE-EU-SOFTS': { zone: 'Europe/London', opensAt: '09:00', opens: 'same day', closesAt: '17:30' },
  'ICE-CANADA': {
    zone: 'America/Winnipeg',
    opensAt: '19:00',
    opens: 'evening before',
    closesAt: '13:20',
  },
  IFAD: { zone: 'Europe/London', opensAt: '01:00', opens: 'same day', closesAt: '23:00' },
  ENDEX: { zone: 'Europe/Amsterdam', opensAt: '08:00', opens: 'same day', closesAt: '18:00' },
  EURONEXT: { zone: 'Europe/Paris', opensAt: '10:45', opens: 'same day', closesAt: '18:30' },
  EEX: { zone: 'Europe/Berlin', opensAt: '09:00', opens: 'same day', closesAt: '18:00' },
  MGEX: { zone: 'America/Chicago', opensAt: '19:00', opens: 'evening before', closesAt: '13:30' },
  LME: { zone: 'Europe/London', opensAt: '01:00', opens: 'same day', closesAt: '19:00' },
  SHFE: {
    zone: 'Asia/Shanghai',
    opensAt: '21:00',
    opens: 'weekday evening before',
    closesAt: '15:00',
    breaks: [{ from: '23:00', to: '09:00' }, LUNCH_IN_CHINA],
  },
  DCE: {
    zone: 'Asia/Shanghai',
    opensAt: '09:00',
    opens: 'same day',
    closesAt: '15:00',
    breaks: [LUNCH_IN_CHINA],
  },
  GFEX: {
    zone: 'Asia/Shanghai',
    opensAt: '09:00',
    opens: 'same day',
    closesAt: '15:00',
    breaks: [LUNCH_IN_CHINA],
  },
  SGX: {
    zone: 'Asia/Singapore',
    opensAt: '20:15',
    opens: 'weekday evening before',
    closesAt: '20:00',
    breaks: [{ from: '05:15', to: '07:30' }],
  },
  BURSA: {
    zone: 'Asia/Kuala_Lumpur',
    opensAt: '10:30',
    opens: 'same day',
    closesAt: '18:00',
    breaks: [{ from: '12:30', to: '14:30' }],
  },
  SPOT: { zone: 'UTC', opensAt: '00:00', opens: 'same day', closesAt: '24:00' },
};

/** The trade date of an instant. After an evening opening it is the next day; on a weekend it is Monday. */
export function tradeDate(market: Market, ms: number): Day {
  return datesAt(market, ms).trade;
}

/** The trade date whose session is running or was the last to run; undefined between a weekend's start and its end. */
export function runningTradeDate(market: Market, ms: number): Day | undefined {
  return datesAt(market, ms).running;
}

/** From Friday evening to Monday: how far the trade date of a price may be after its UTC date. */
export const TRADED_AHEAD_DAYS = 3;

/** Why a price of this day cannot be known yet; undefined if it can. */
export function futureDay(market: Market, day: Day, now: number): string | undefined {
  const last = Math.max(utcDay(now), runningTradeDate(market, now) ?? 0);
  if (day <= last) return undefined;
  return `${printDay(day)} is in the future (the current trade date is ${printDay(last)})`;
}

interface Dates {
  quarter: number;
  trade: Day;
  running: Day | undefined;
}

const lastDates = new Map<Market, Dates>();

/** Sessions open on a quarter of an hour, so a trade date is valid for one. Requests need the same one repeatedly. */
function datesAt(market: Market, ms: number): Dates {
  const quarter = Math.floor(ms / QUARTER_MS);
  const known = lastDates.get(market);
  if (known?.quarter === quarter) return known;
  const trade = workOutTradeDate(market, ms);
  const dates = { quarter, trade, running: sessionStart(market, trade) <= ms ? trade : undefined };
  lastDates.set(market, dates);
  return dates;
}

function workOutTradeDate(market: Market, ms: number): Day {
  const local = ms + zoneOffset(market.zone, ms);
  let day = Math.floor(local / MS_PER_DAY);
  if (market.opens !== 'same day' && local - day * MS_PER_DAY >= timeOfDay(market.opensAt)) day++;
  while (isWeekend(day)) day++;
  return day;
}

/** When the session of a trade date opens, in ms. Monday's opens on Sunday evening. */
export function sessionStart(market: Market, day: Day): number {
  return instantOf(market.zone, openingDay(market, day), timeOfDay(market.opensAt));
}

function openingDay(market: Market, day: Day): Day {
  if (market.opens === 'same day') return day;
  let evening = day - 1;
  if (market.opens === 'weekday evening before') while (isWeekend(evening)) evening--;
  return evening;
}

/** A time during which a market trades: `start` ≤ t < `end`, in ms. */
export interface TradingHours {
  start: number;
  end: number;
}

/** When a market trades on a trade date, without its breaks. The evening before ends with its break, after midnight perhaps. */
export function tradingHours(market: Market, day: Day): TradingHours[] {
  const { zone, breaks = [] } = market;
  const hours: TradingHours[] = [];
  let [startDay, start] = [openingDay(market, day), timeOfDay(market.opensAt)];
  for (const { from, to } of breaks) {
    const end = timeOfDay(from);
    const endDay = end > start ? startDay : startDay + 1;
    hours.push({ start: instantOf(zone, startDay, start), end: instantOf(zone, endDay, end) });
    [startDay, start] = [day, timeOfDay(to)];
  }
  return [...hours, { start: instantOf(zone, startDay, start), end: sessionEnd(market, day) }];
}

/** Whether a market trades at an instant: not on weekends, in breaks, or between sessions. Holidays are not known. */
export function isTrading(market: Market, ms: number): boolean {
  return tradingHours(market, tradeDate(market, ms)).some(({ start, end }) => start <= ms && ms < end);
}

/** When the session of a trade date has ended, in ms. */
export function sessionEnd(market: Market, day: Day): number {
  return instantOf(market.zone, day, timeOfDay(market.closesAt));
}

/** Whether the session of a trade date has ended. Old days need no calculation: they are over in every time zone. */
export function hasEnded(market: Market, day: Day, ms: number): boolean {
  return day <= lastDayEnded(ms) || sessionEnd(market, day) <= ms;
}

/** The last day that is over in every time zone: the sessions of it and of earlier days have ended. */
export function lastDayEnded(ms: number): Day {
  return Math.floor(ms / MS_PER_DAY) - 2;
}

/** When the settlement price of a trade date is determined, in ms; undefined if the market has no such time. */
export function settlementTime(market: Market, day: Day): number | undefined {
  return market.settlesAt === undefined
    ? undefined
    : instantOf(market.zone, day, timeOfDay(market.settlesAt));
}

export function marketOf(key: string): Market {
  const market = Object.hasOwn(MARKETS, key) ? MARKETS[key] : undefined;
  if (!market) throw new Error(`unknown market "${key}"; known are ${Object.keys(MARKETS).join(', ')}`);
  return market;
}

const times = new Map<string, number>();

/** In ms after midnight. Cached: there are few of them, and every request needs one. */
function timeOfDay(text: string): number {
  const known = times.get(text);
  if (known !== undefined) return known;
  const ms = (Number(text.slice(0, 2)) * 60 + Number(text.slice(3))) * 60_000;
  times.set(text, ms);
  return ms;
}
