import { type Day, dayOf, MS_PER_DAY } from '../../market/day.ts';
import { dayAt } from './calendar.ts';

/** Each round reduces the error of the monthly means to less than half. */
const CALIBRATION_ROUNDS = 10;

/** A level that the path goes through, as a logarithm, on a day. */
export interface Node {
  day: Day;
  log: number;
}

/** Straight between two nodes, level before the first and after the last. For days in ascending order. */
export class Levels {
  readonly #nodes: readonly Node[];
  #low = 0;

  constructor(nodes: readonly Node[]) {
    this.#nodes = nodes;
  }

  at(day: Day): number {
    const nodes = this.#nodes;
    while (this.#low + 1 < nodes.length && nodes[this.#low + 1]!.day <= day) this.#low++;
    const low = nodes[this.#low]!;
    const high = nodes[this.#low + 1];
    if (!high || day <= low.day) return low.log;
    return low.log + (high.log - low.log) * ((day - low.day) / (high.day - low.day));
  }
}

/** The middles of consecutive months, shifted so that the mean of each month is its level despite the noise. */
export function calibrate(nodes: readonly Node[], noiseAt: (n: number) => number): Node[] {
  const { monthOfDay, weights } = calendarOf(nodes.length);
  const [levels, sums] = [new Levels(nodes), nodes.map(() => 0)];
  for (const [n, month] of monthOfDay.entries()) sums[month]! += levels.at(dayAt(n)) + noiseAt(n);
  let shifts = nodes.map(() => 0);
  for (let round = 0; round < CALIBRATION_ROUNDS; round++) {
    shifts = shifts.map((shift, month) => {
      const { days, before, own, after } = weights[month]!;
      if (days === 0) return shift;
      const moved = before * (shifts[month - 1] ?? 0) + own * shift + after * (shifts[month + 1] ?? 0);
      return shift + nodes[month]!.log - (sums[month]! + moved) / days;
    });
  }
  return nodes.map(({ day, log }, month) => ({ day, log: log + shifts[month]! }));
}

/** How much the days of a month together move with the middles of the months before and after it, and with its own. */
interface Weights {
  days: number;
  before: number;
  own: number;
  after: number;
}

interface Calendar {
  /** By the number of the trading day. */
  monthOfDay: readonly number[];
  weights: readonly Weights[];
}

const calendars = new Map<number, Calendar>();

/** The trading days of the first `months` months. All factors with as many levels share it. */
function calendarOf(months: number): Calendar {
  return calendars.getOrInsertComputed(months, () => {
    const monthOfDay: number[] = [];
    const weights = Array.from({ length: months }, () => ({ days: 0, before: 0, own: 0, after: 0 }));
    for (let n = 0, month = monthOf(dayAt(0)); month < months; month = monthOf(dayAt(++n))) {
      monthOfDay.push(month);
      addDay(weights, month, dayAt(n));
    }
    return { monthOfDay, weights };
  });
}

function addDay(weights: readonly Weights[], month: number, day: Day): void {
  const own = weights[month]!;
  const isEarly = day < middleOfMonth(month);
  const other = isEarly ? month - 1 : month + 1;
  const middle = middleOfMonth(month);
  // Before the first middle and after the last, the level stays.
  const part = other in weights ? (day - middle) / (middleOfMonth(other) - middle) : 0;
  own.days++;
  own.own += 1 - part;
  own[isEarly ? 'before' : 'after'] += part;
}

/** Months are counted from the first of the anchors, December 2014. */
function monthOf(day: Day): number {
  const date = new Date(day * MS_PER_DAY);
  return (date.getUTCFullYear() - 2014) * 12 + date.getUTCMonth() - 11;
}

export function middleOfMonth(month: number): Day {
  return dayOf(2014 + Math.floor((month + 11) / 12), ((month + 11) % 12) + 1, 16)!;
}
