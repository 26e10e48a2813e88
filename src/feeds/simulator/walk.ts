import type { Bar } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import type { SymbolRecord } from '../../market/symbol.ts';
import { unitFactor } from '../../market/unit.ts';
import { dayAt, firstOfMonth, isLastOfWeek } from './calendar.ts';
import { type CommodityFactor, factorOf } from './factors.ts';
import { exp, normal, seedOf, uniform } from './noise.ts';
import paths from './paths.json';

/** What a symbol's simulated prices depend on, besides the day. */
export interface Walk {
  code: string;
  decimals: number;
  /** How often there is a price. Weekly and monthly prices are single values, as their publishers give them. */
  interval: SymbolRecord['updateInterval'];
  /** Whether a day has a single value instead of a range: exchange rates. */
  isFixing: boolean;
  /** What drives its commodity. */
  factor: CommodityFactor;
  /** The exchange rates from the factor's currency to the symbol's, each in units for 1 EUR. */
  into: CommodityFactor | undefined;
  from: CommodityFactor | undefined;
  /** From the factor's unit to the symbol's, with the distance of its market from the others. */
  ratio: number;
  /** Whether its distance from the factor varies. */
  hasBasis: boolean;
}

const PATHS: Readonly<Record<string, { factor: string; times?: number }>> = paths;

export function walkOf(symbol: Omit<SymbolRecord, 'category' | 'market'>): Walk {
  const { code, decimals, updateInterval: interval, currency, unit } = symbol;
  const isFixing = symbol.status === 'currency';
  const { factor: name, times = 1 } = PATHS[code] ?? { factor: code };
  const own = { level: 100, volatility: 0.25, unit: unit.symbol, currency: currency.code };
  const factor = factorOf(name, own);
  const [cents, money] = currency.code === 'USX' ? [100, 'USD'] : [1, currency.code];
  const [centsBefore, moneyBefore] = factor.currency === 'USX' ? [100, 'USD'] : [1, factor.currency];
  const isConverted = !isFixing && money !== moneyBefore;
  return {
    code,
    decimals,
    interval,
    isFixing,
    factor,
    into: isConverted ? rateOf(money) : undefined,
    from: isConverted ? rateOf(moneyBefore) : undefined,
    ratio: (times * conversion(symbol, factor) * cents) / centsBefore,
    hasBasis: times !== 1,
  };
}

/** Units of a currency for 1 EUR. */
function rateOf(currency: string): CommodityFactor | undefined {
  return currency === 'EUR' ? undefined : factorOf(`EUR/${currency}`);
}

/** The factor from a price per unit of the factor to one per unit of the symbol. */
function conversion({ name, unit }: Pick<SymbolRecord, 'name' | 'unit'>, factor: CommodityFactor): number {
  const ratio = unitFactor({ name, unit: { symbol: factor.unit, name: factor.unit } }, unit.symbol);
  return ratio ? Number(ratio.numerator) / Number(ratio.denominator) : 1;
}

/** The distance of a market from its commodity: its standard deviation, and what is left of it after a day. */
const BASIS = 0.004;
const BASIS_KEPT = exp(-0.14);
const BASIS_STEP = BASIS * Math.sqrt(1 - BASIS_KEPT * BASIS_KEPT);
/** The opening gap and the wicks, relative to a day's standard deviation. */
const GAP = 0.2;
const WICK = 0.8;

/** The bars of [firstDay, lastDay]: of trading days, of the last trading day of each week, or of the first of each month. */
export function barsOf(walk: Walk, firstDay: Day, lastDay: Day): Bar[] {
  if (walk.interval === 'month') return monthlyBars(walk, firstDay, lastDay);
  const bars: Bar[] = [];
  let before: Point | undefined;
  for (const point of pointsOf(walk, firstDay, lastDay)) {
    const isDue = point.day >= firstDay && (walk.interval !== 'week' || isLastOfWeek(point.day));
    if (isDue) bars.push(barOf(walk, point, before ?? point));
    before = point;
  }
  return bars;
}

/** The logarithm of a price on a trading day. */
interface Point {
  day: Day;
  log: number;
}

/** The trading days from the last one before `firstDay` to `lastDay`. The basis depends on all days before. */
function* pointsOf(
  { code, factor, into, from, hasBasis }: Walk,
  firstDay: Day,
  lastDay: Day,
): Generator<Point> {
  const seed = seedOf(`${code} basis`);
  let basis = hasBasis ? BASIS * normal(seed, 0) : 0;
  for (let n = 0; dayAt(n) <= lastDay; n++) {
    const day = dayAt(n);
    if (hasBasis) basis = BASIS_KEPT * basis + BASIS_STEP * normal(seed, day);
    if (dayAt(n + 1) < firstDay) continue;
    yield { day, log: factor.at(n) + basis + (into?.at(n) ?? 0) - (from?.at(n) ?? 0) };
  }
}

function barOf(walk: Walk, point: Point, before: Point): Bar {
  const { factor, ratio, decimals, interval, isFixing } = walk;
  const { day } = point;
  const unit = 10 ** decimals;
  const close = ratio * exp(point.log);
  if (isFixing || interval === 'week') return flatBar(day, toPrice(close, unit));
  const { step } = factor;
  const noise = noiseOf(factor.name);
  const open = ratio * exp(before.log + step * GAP * normal(noise.gap, day));
  const high = Math.max(open, close) * (1 + step * WICK * uniform(noise.high, day));
  const low = Math.min(open, close) / (1 + step * WICK * uniform(noise.low, day));
  return {
    day,
    open: toPrice(open, unit),
    high: toPrice(high, unit),
    low: toPrice(low, unit),
    close: toPrice(close, unit),
  };
}

/** A monthly value is the mean of its days, and belongs to the first of the month. */
function monthlyBars(walk: Walk, firstDay: Day, lastDay: Day): Bar[] {
  const months = Map.groupBy(pointsOf(walk, firstDay, lastDay + 31), ({ day }) => firstOfMonth(day));
  const bars: Bar[] = [];
  for (const [day, points] of months) {
    if (day < firstDay || day > lastDay) continue;
    const mean = points.reduce((sum, point) => sum + exp(point.log), 0) / points.length;
    bars.push(flatBar(day, toPrice(walk.ratio * mean, 10 ** walk.decimals)));
  }
  return bars;
}

function flatBar(day: Day, price: number): Bar {
  return { day, open: price, high: price, low: price, close: price };
}

/** Rounds to the symbol's decimals, but never to less than the smallest step. Rounding keeps the order of prices. */
export function toPrice(value: number, unit: number): number {
  return Math.max(Math.round(value * unit), 1) / unit;
}

interface BarNoise {
  gap: number;
  high: number;
  low: number;
}

const noises = new Map<string, BarNoise>();

/** One noise per commodity, so that its markets move together within a day, too. */
function noiseOf(name: string): BarNoise {
  const seed = (part: string) => seedOf(`${name} ${part}`);
  return noises.getOrInsertComputed(name, () => ({ gap: seed('gap'), high: seed('high'), low: seed('low') }));
}
