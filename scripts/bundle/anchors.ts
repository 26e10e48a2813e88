import type { Observation } from '../../src/feeds/provider.ts';
import { type Day, dayOf, MS_PER_DAY } from '../../src/market/day.ts';

/** The month before the simulated history starts. */
const FIRST_YEAR = 2014;
const FIRST_MONTH = 12;
/** Currencies whose rate stopped are not simulated. */
const MONTHS_MIN = 120;

/** Logarithms of monthly levels, in units of 1e-5: integers, so that every machine computes the same path. */
export interface Anchors {
  /** The first month, as YYYY-MM. */
  from: string;
  /** By the name of the World Bank's series, and as `EUR/USD` for exchange rates. Gaps are interpolated. */
  levels: Record<string, number[]>;
}

export function anchorsOf(prices: readonly Observation[], rates: readonly Observation[]): Anchors {
  const first = dayOf(FIRST_YEAR, FIRST_MONTH, 1)!;
  const levels: Record<string, number[]> = {};
  const add = (name: string, observations: readonly Observation[], monthsMin: number) => {
    const byMonth = Map.groupBy(
      observations.filter(({ day }) => day >= first),
      ({ day }) => monthOf(day),
    );
    const means = new Map([...byMonth].map(([month, some]) => [month, mean(some.map((one) => one.close))]));
    if (means.size >= monthsMin)
      levels[name] = filled(means).map((value) => Math.round(Math.log(value) * 1e5));
  };
  for (const [series, some] of Map.groupBy(prices, (one) => one.series)) {
    if (series !== 'Natural gas index') add(series, some, 100);
  }
  for (const [currency, some] of Map.groupBy(rates, (one) => one.series)) {
    add(`EUR/${currency}`, some, MONTHS_MIN);
  }
  return { from: `${FIRST_YEAR}-${FIRST_MONTH}`, levels };
}

/** Months since December 2014. */
function monthOf(day: Day): number {
  const date = new Date(day * MS_PER_DAY);
  return (date.getUTCFullYear() - FIRST_YEAR) * 12 + date.getUTCMonth() + 1 - FIRST_MONTH;
}

/** One value for each month up to the last, interpolated where one is missing. */
function filled(means: ReadonlyMap<number, number>): number[] {
  const months = [...means.keys()].sort((a, b) => a - b);
  return Array.from({ length: months.at(-1)! + 1 }, (_, month) => {
    const before = months.findLast((one) => one <= month) ?? months[0]!;
    const after = months.find((one) => one >= month)!;
    const [a, b] = [means.get(before)!, means.get(after)!];
    return after === before ? a : a + ((b - a) * (month - before)) / (after - before);
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
