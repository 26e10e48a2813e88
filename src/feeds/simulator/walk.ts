import type { Bar } from '../../market/bar.ts';
import { type Day, dayOf } from '../../market/day.ts';
import { tradingDays } from './calendar.ts';
import levels from './levels.json';
import { exp, normal, seedOf, uniform } from './noise.ts';

/** The first day of every simulated history. */
export const FIRST_SIMULATED_DAY: Day = dayOf(2015, 1, 1)!;

/** What a symbol's simulated prices depend on, besides the day. */
export interface Walk {
  code: string;
  decimals: number;
  /** The price that the walk reverts to. */
  level: number;
  /** The standard deviation of a year's log return. */
  volatility: number;
}

const LEVELS: Readonly<Record<string, { level: number; volatility: number }>> = levels;

/** For symbols that an operator added. */
const ANY_LEVEL = { level: 100, volatility: 0.25 };

export function walkOf(symbol: { code: string; decimals: number }): Walk {
  const { level, volatility } = LEVELS[symbol.code] ?? ANY_LEVEL;
  return { code: symbol.code, decimals: symbol.decimals, level, volatility };
}

const TRADING_DAYS_PER_YEAR = 252;
/** The half-life of a deviation from the level is ln 2 / 1 years: about 8 months. */
const REVERSION_PER_YEAR = 1;
/** The opening gap and the wicks, relative to a day's standard deviation. */
const GAP = 0.2;
const WICK = 0.8;

/**
 * The bars of the trading days in [firstDay, lastDay]. The log price is an Ornstein–Uhlenbeck process that starts on a fixed day
 * and takes each step from a hash of code and day. So the bar of a day is always and everywhere the same.
 */
export function barsOf(walk: Walk, firstDay: Day, lastDay: Day): Bar[] {
  const { level, volatility, decimals } = walk;
  const noise = noiseOf(walk.code);
  const keep = exp(-REVERSION_PER_YEAR / TRADING_DAYS_PER_YEAR);
  const spread = volatility / Math.sqrt(2 * REVERSION_PER_YEAR); // of the walk as a whole
  const step = spread * Math.sqrt(1 - keep * keep);
  const unit = 10 ** decimals;
  const bars: Bar[] = [];
  let x = spread * normal(noise.start, 0);
  for (const day of daysTo(lastDay)) {
    if (day > lastDay) break;
    const before = x;
    x = keep * x + step * normal(noise.close, day);
    if (day < firstDay) continue;
    const open = level * exp(before + step * GAP * normal(noise.gap, day));
    const close = level * exp(x);
    const high = Math.max(open, close) * (1 + step * WICK * uniform(noise.high, day));
    const low = Math.min(open, close) / (1 + step * WICK * uniform(noise.low, day));
    bars.push({
      day,
      open: toPrice(open, unit),
      high: toPrice(high, unit),
      low: toPrice(low, unit),
      close: toPrice(close, unit),
    });
  }
  return bars;
}

/** Rounds to the symbol's decimals, but never to less than the smallest step. Rounding keeps the order of prices. */
export function toPrice(value: number, unit: number): number {
  return Math.max(Math.round(value * unit), 1) / unit;
}

function noiseOf(code: string) {
  const seed = (part: string) => seedOf(`${code} ${part}`);
  return {
    start: seed('start'),
    close: seed('close'),
    gap: seed('gap'),
    high: seed('high'),
    low: seed('low'),
  };
}

/** All symbols trade on the same days, so they are computed once and extended on demand. */
const days: Day[] = [];
let knownTo: Day = FIRST_SIMULATED_DAY - 1;

function daysTo(last: Day): readonly Day[] {
  days.push(...tradingDays(knownTo + 1, last));
  knownTo = Math.max(knownTo, last);
  return days;
}
