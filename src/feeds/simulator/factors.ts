import { type Day, dayOf, MS_PER_DAY } from '../../market/day.ts';
import { worldBank } from '../providers/world-bank.ts';
import anchors from './anchors.json';
import { tradingDays } from './calendar.ts';
import factors from './factors.json';
import { exp, log, normal, seedOf } from './noise.ts';

/** The first day of every simulated history. */
export const FIRST_SIMULATED_DAY: Day = dayOf(2015, 1, 1)!;

const TRADING_DAYS_PER_YEAR = 252;
/** The half-life of a deviation from the level is ln 2 / 4 years: about two months. */
const REVERSION_PER_YEAR = 4;
const KEPT_PER_DAY = exp(-REVERSION_PER_YEAR / TRADING_DAYS_PER_YEAR);
/** Each round reduces the error of the monthly means to less than half. */
const CALIBRATION_ROUNDS = 10;
const RATE_VOLATILITY = 0.08;

/**
 * How much of a daily move the commodities of a group share, as the correlation of two of them: close to what the daily and
 * monthly prices of the bundle show.
 */
const GROUPS: Readonly<Record<string, number>> = {
  crude: 0.8,
  precious: 0.75,
  base: 0.6,
  grains: 0.6,
  oils: 0.65,
  gas: 0.6,
  coal: 0.85,
  coffee: 0.6,
  tea: 0.3,
  rice: 0.85,
  rubber: 0.85,
  fertilizer: 0.4,
  steel: 0.5,
  plastics: 0.6,
  meats: 0.5,
  dairy: 0.4,
  freight: 0.85,
};

/** The parameters of one commodity. */
interface FactorSettings {
  /** The standard deviation of a year's log return. For a follower, that of its distance from what it follows. */
  volatility: number;
  group?: string;
  /** The unit and the currency of its level; those of the World Bank's series if it is one. */
  unit?: string;
  currency?: string;
  /** Its level today, if it is not a series of the World Bank. */
  level?: number;
  /** Its average level in each year from 2015 on. */
  yearly?: readonly number[];
  /** The commodity that it follows: gasoline follows crude oil. */
  follows?: string;
}

const SETTINGS: Readonly<Record<string, FactorSettings>> = factors;
const LEVELS: Readonly<Record<string, readonly number[]>> = anchors.levels;

/** A level that the path goes through, as a logarithm, on a day. */
interface Node {
  day: Day;
  log: number;
}

/**
 * The logarithm of a commodity's price on each trading day. It is noise around levels, and the noise is shifted so that each
 * month has its real mean:
 *
 *     level ●───────────●───────────●─ ─ ─ ─ ─   between mid-months: straight; after the last: level
 *     noise  ~~^~v~~~^~~~~v~~~^~~~~~~~^~~v~~~     mean-reverting, partly shared by the group
 *
 * Every day is the same on all machines and does not depend on how far the path was computed.
 */
export class CommodityFactor {
  readonly name: string;
  readonly unit: string;
  readonly currency: string;
  /** The standard deviation of a day's log return. */
  readonly step: number;
  readonly #follows: CommodityFactor | undefined;
  /** The levels, shifted so that the noise around them has the right mean in each month. */
  readonly #levels: readonly Node[];
  /** The level at the end of the bundle. */
  readonly lastLevel: number;
  readonly #noise: Noise;
  readonly #values: number[] = [];

  constructor(name: string, settings: FactorSettings) {
    this.name = name;
    const series = worldBank.series.find(({ id }) => id === name);
    this.unit = settings.unit ?? series?.unit ?? 'EUR';
    this.currency = settings.currency ?? series?.currency ?? name.slice(4);
    this.#follows = settings.follows === undefined ? undefined : factorOf(settings.follows);
    const nodes = nodesOf(name, settings, this.#follows);
    this.lastLevel = nodes.at(-1)!.log;
    this.#noise = new Noise(name, settings);
    const followed = this.#follows?.step ?? 0;
    this.step = Math.sqrt(this.#noise.step * this.#noise.step + followed * followed);
    this.#levels = LEVELS[name] ? calibrate(nodes, this.#noise) : nodes;
  }

  /** The value on the n-th trading day. */
  at(n: number): number {
    for (let i = this.#values.length; i <= n; i++) {
      const day = dayAt(i);
      const base = interpolate(this.#levels, day);
      this.#values.push(base + this.#noise.at(i) + (this.#follows?.at(i) ?? 0));
    }
    return this.#values[n]!;
  }
}

const known = new Map<string, CommodityFactor>();

/** The factor of a commodity or an exchange rate. An unknown one fluctuates around a level of 100. */
export function factorOf(name: string, unknown: FactorSettings = UNKNOWN): CommodityFactor {
  const isRate = name.startsWith('EUR/') && LEVELS[name] !== undefined;
  const settings = SETTINGS[name] ?? (isRate ? { volatility: RATE_VOLATILITY } : unknown);
  return known.getOrInsertComputed(name, () => new CommodityFactor(name, settings));
}
const UNKNOWN: FactorSettings = { level: 100, volatility: 0.25, unit: '', currency: '' };

/** A follower's nodes are its distance from what it follows. */
function nodesOf(
  name: string,
  { level, yearly }: FactorSettings,
  follows: CommodityFactor | undefined,
): Node[] {
  const monthly = LEVELS[name];
  if (monthly) return monthly.map((value, month) => ({ day: middleOfMonth(month), log: value / 1e5 }));
  if (yearly) return yearly.map((value, year) => ({ day: dayOf(2015 + year, 7, 1)!, log: log(value) }));
  const distance = log(level ?? 100) - (follows?.lastLevel ?? 0);
  return [{ day: FIRST_SIMULATED_DAY, log: distance }];
}

/** Mean-reverting noise, part of which a group of commodities shares. */
class Noise {
  readonly step: number;
  readonly #own: number;
  readonly #group: number;
  readonly #shared: number;
  readonly #values: number[];

  constructor(name: string, { volatility, group }: FactorSettings) {
    this.step = volatility / Math.sqrt(TRADING_DAYS_PER_YEAR);
    this.#own = seedOf(`${name} factor`);
    this.#group = seedOf(`${group} group`);
    this.#shared = group === undefined ? 0 : GROUPS[group]!;
    const spread = this.step / Math.sqrt(1 - KEPT_PER_DAY * KEPT_PER_DAY);
    this.#values = [spread * normal(this.#own, 0)];
  }

  /** On the n-th trading day. */
  at(n: number): number {
    for (let i = this.#values.length; i <= n; i++) {
      const day = dayAt(i);
      const own = normal(this.#own, day) * Math.sqrt(1 - this.#shared);
      const shared = this.#shared === 0 ? 0 : normal(this.#group, day) * Math.sqrt(this.#shared);
      this.#values.push(KEPT_PER_DAY * this.#values[i - 1]! + this.step * (own + shared));
    }
    return this.#values[n]!;
  }
}

/** The nodes, shifted so that the mean of every month is its level despite the noise. */
function calibrate(nodes: readonly Node[], noise: Noise): Node[] {
  const days: { month: number; place: Place; value: number }[] = [];
  for (let n = 0; dayAt(n) < nodes.at(-1)!.day + 16; n++) {
    const day = dayAt(n);
    const place = placeOf(nodes, day);
    days.push({ month: monthOf(day), place, value: valueAt(nodes, place) + noise.at(n) });
  }
  const shifts = nodes.map(({ day }) => ({ day, log: 0 }));
  for (let round = 0; round < CALIBRATION_ROUNDS; round++) {
    const [sums, counts] = [nodes.map(() => 0), nodes.map(() => 0)];
    for (const { month, place, value } of days) {
      if (month >= nodes.length) continue;
      sums[month]! += value + valueAt(shifts, place);
      counts[month]!++;
    }
    for (const [month, shift] of shifts.entries()) {
      if (counts[month]! > 0) shift.log += nodes[month]!.log - sums[month]! / counts[month]!;
    }
  }
  return nodes.map(({ day, log: level }, i) => ({ day, log: level + shifts[i]!.log }));
}

/** A day's position between nodes: after the node `low`, at this fraction of the distance to the next. */
interface Place {
  low: number;
  part: number;
}

/** Straight between two nodes, level before the first and after the last. */
function interpolate(nodes: readonly Node[], day: Day): number {
  return nodes.length === 0 ? 0 : valueAt(nodes, placeOf(nodes, day));
}

function placeOf(nodes: readonly Node[], day: Day): Place {
  let [low, high] = [0, nodes.length - 1];
  if (day <= nodes[low]!.day) return { low, part: 0 };
  if (day >= nodes[high]!.day) return { low: high, part: 0 };
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (nodes[middle]!.day <= day) low = middle;
    else high = middle;
  }
  const [a, b] = [nodes[low]!.day, nodes[high]!.day];
  return { low, part: (day - a) / (b - a) };
}

function valueAt(nodes: readonly Node[], { low, part }: Place): number {
  const value = nodes[low]!.log;
  return part === 0 ? value : value + (nodes[low + 1]!.log - value) * part;
}

/** Months are counted from the first of the anchors, December 2014. */
function monthOf(day: Day): number {
  const date = new Date(day * MS_PER_DAY);
  return (date.getUTCFullYear() - 2014) * 12 + date.getUTCMonth() - 11;
}

function middleOfMonth(month: number): Day {
  return dayOf(2014 + Math.floor((month + 11) / 12), ((month + 11) % 12) + 1, 16)!;
}

/** All symbols trade on the same days, so they are computed once and extended on demand. */
const days: Day[] = [];
let knownTo: Day = FIRST_SIMULATED_DAY - 1;

/** The n-th trading day of the simulated history. */
export function dayAt(n: number): Day {
  while (days.length <= n) {
    days.push(...tradingDays(knownTo + 1, knownTo + 365));
    knownTo += 365;
  }
  return days[n]!;
}
