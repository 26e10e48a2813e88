import { dayOf } from '../../market/day.ts';
import { worldBank } from '../providers/world-bank.ts';
import anchors from './anchors.json';
import { dayAt, FIRST_SIMULATED_DAY } from './calendar.ts';
import factors from './factors.json';
import { calibrate, Levels, middleOfMonth, type Node } from './levels.ts';
import { exp, log, normal, seedOf } from './noise.ts';

const TRADING_DAYS_PER_YEAR = 252;
/** The half-life of a deviation from the level is ln 2 / 4 years: about two months. */
const REVERSION_PER_YEAR = 4;
const KEPT_PER_DAY = exp(-REVERSION_PER_YEAR / TRADING_DAYS_PER_YEAR);
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
  readonly #levels: Levels;
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
    this.#levels = new Levels(LEVELS[name] ? calibrate(nodes, (n) => this.#noise.at(n)) : nodes);
  }

  /** The value on the n-th trading day. */
  at(n: number): number {
    for (let i = this.#values.length; i <= n; i++) {
      const base = this.#levels.at(dayAt(i));
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
