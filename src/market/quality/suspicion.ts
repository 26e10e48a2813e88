import type { Bar } from '../bar.ts';
import type { Day } from '../day.ts';
import { printNumber } from '../decimal.ts';
import { median } from './median.ts';
import { unitFactor } from './unit-factor.ts';

/**
 * Finds the bars of a symbol that are too far from their neighbours to be published without a check. A spike is contradicted
 * on both sides; a new level that lasts is not a spike. How far is too far depends on how much the series usually moves, and leaves room for the
 * wildest genuine history that is known: Henry Hub on 2024-01-12 (3.15, 13.20, 2.86), urea in January 1974 (64.75, 285.75).
 */
export interface SuspicionRule {
  /** Whether the price can be zero or less: see `canBeZero`. */
  canBeZero: boolean;
  /** Whether to hold a lasting jump by the factor between two units, too. Feeds and pushes check for it themselves. */
  holdUnitChanges: boolean;
}

/** A close that is accepted: one of the ledger. */
export interface KnownClose {
  day: Day;
  close: number;
}

/** How many neighbours on each side form the level that a bar is compared with: two wrong ones in a row cannot sway the median. */
const SIDE_BARS = 5;
/** Prices farther apart are not neighbours. Annual series have one per year. */
export const NEIGHBOUR_DAYS = 400;
/** Bars on each side that determine the typical move, and how many moves it needs. */
const MOVES_BARS = 30;
const MOVES_LEAST = 8;
/** How many agreeing bars make a new level. */
const AGREE_LEAST = 3;
const AGREE = Math.log(2);
/** A bar within this factor of the one before needs no further check. */
const NEAR = 1.5;

/** A limit on |ln(price / level)|: a number of typical moves of the series, clamped to `least` and `most`. */
interface Limit {
  moves: number;
  least: number;
  most: number;
}
/** Contradicted on both sides. */
const SPIKE: Limit = { moves: 60, least: Math.log(2), most: Math.log(5) };
const SPIKE_ENERGY: Limit = { moves: 60, least: Math.log(6), most: Math.log(8) };
/** Contradicted on one side, with too little on the other side to tell. */
const JUMP: Limit = { moves: 90, least: Math.log(3), most: Math.log(10) };
const JUMP_ENERGY: Limit = { moves: 90, least: Math.log(6), most: Math.log(10) };
/** Open, high and low against the close. */
const RANGE = Math.log(5);
const RANGE_ENERGY = Math.log(10);
/** Prices that cross zero have no ratios: a multiple of the level, in absolute terms. */
const TIMES_LEVEL = 10;
/** A zero between prices this many moves away from zero is a missing value. */
const ZERO_MOVES = 12;

interface Entry<B> {
  day: Day;
  close: number;
  /** The bar to judge; undefined for a close of the ledger. */
  bar: B | undefined;
  /** What the ledger has on the day of a bar that is to be judged. */
  was?: number;
}

/** Returns the suspicious bars, each with the reason. Both lists must be sorted by day, with one entry per day. */
export function findSuspicious<B extends Bar>(
  bars: readonly B[],
  known: readonly KnownClose[],
  rule: SuspicionRule,
): Map<B, string> {
  const entries = merge(bars, known);
  const judge = new Judge(entries, rule);
  const found = new Map<B, string>();
  for (const [i, { bar }] of entries.entries()) {
    const reason = bar && judge.reasonAgainst(i, bar);
    if (bar && reason !== undefined) found.set(bar, reason);
    else judge.accept(i);
  }
  return found;
}

class Judge<B extends Bar> {
  readonly #entries: readonly Entry<B>[];
  readonly #rule: SuspicionRule;
  /** The last accepted entries, the newest last. */
  readonly #accepted: Entry<B>[] = [];
  /** While prices are in another unit than those before: the factor, and the last price in it. */
  #shift: { factor: number; isUp: boolean; close: number } | undefined;

  constructor(entries: readonly Entry<B>[], rule: SuspicionRule) {
    this.#entries = entries;
    this.#rule = rule;
  }

  accept(i: number): void {
    this.#shift = undefined;
    this.#accepted.push(this.#entries[i]!);
    if (this.#accepted.length > SIDE_BARS) this.#accepted.shift();
  }

  reasonAgainst(i: number, bar: B): string | undefined {
    const { canBeZero } = this.#rule;
    if (bar.high === 0 && bar.low === 0 && (bar.open !== 0 || bar.close !== 0))
      return 'its high and low are 0';
    const last = this.#accepted.at(-1);
    if (last && !this.#shift && isNearLast(bar, last.close)) return undefined;
    const before = this.#before(i);
    const after = this.#after(i);
    const worst = bar.close > 0 && !canBeZero ? Math.min(bar.open, bar.high, bar.low) : bar.close;
    if (worst <= 0 && !canBeZero) {
      if ([...before, ...after].some((close) => close < 0)) return undefined;
      return `${printNumber(worst)} is below zero`;
    }
    if (bar.close <= 0) return this.#reasonAgainstZero(i, bar.close, before, after);
    return this.#reasonAgainstClose(i, bar, before, after) ?? rangeReason(bar, canBeZero);
  }

  #reasonAgainstClose(
    i: number,
    { close }: B,
    before: readonly number[],
    after: readonly number[],
  ): string | undefined {
    const shifted = this.#stillShifted(close);
    if (shifted !== undefined) return shifted;
    const { canBeZero, holdUnitChanges } = this.#rule;
    const [left, right] = [levelNear(close, before), levelNear(close, after)];
    const fromLeft = left === undefined ? undefined : distance(close, left, before[0]!);
    const fromRight = right === undefined ? undefined : distance(close, right);
    const moves = this.#typicalMove(i);
    const isSameWay = left !== undefined && right !== undefined && close > left === close > right;
    const spike = limitOf(canBeZero ? SPIKE_ENERGY : SPIKE, moves);
    if (isSameWay && fromLeft! > spike && fromRight! > spike) return far(close, left, right);
    const jump = limitOf(canBeZero ? JUMP_ENERGY : JUMP, moves);
    const factor = left === undefined ? undefined : unitFactor(left, close);
    if (factor !== undefined) {
      if (!holdUnitChanges) return undefined;
      this.#shift = { factor, isUp: close > left!, close };
      return `${printNumber(close)} after ${printNumber(left!)}: a jump by about ${Math.round(factor * 10) / 10}, as when a unit changes`;
    }
    const isJump =
      fromLeft === undefined
        ? after.length >= AGREE_LEAST && fromRight !== undefined && fromRight > jump
        : fromLeft > jump && agreeing(close, after) < AGREE_LEAST;
    return isJump ? far(close, left, right) : undefined;
  }

  /** Later prices in the held unit are held, too, until the prices jump back. */
  #stillShifted(close: number): string | undefined {
    const shift = this.#shift;
    if (!shift) return undefined;
    const back = unitFactor(shift.close, close);
    if (back === shift.factor && close < shift.close === shift.isUp) {
      this.#shift = undefined;
      return undefined;
    }
    shift.close = close;
    return `${printNumber(close)} is in the unit of the prices before it, which changed by about ${Math.round(shift.factor * 10) / 10}`;
  }

  #reasonAgainstZero(
    i: number,
    close: number,
    before: readonly number[],
    after: readonly number[],
  ): string | undefined {
    const levels = [median(before), median(after)].filter((level) => level !== undefined);
    if (levels.length === 0) return undefined;
    const largest = Math.max(...levels.map(Math.abs));
    const [left, right] = [median(before), median(after)];
    if (close < 0) return -close > TIMES_LEVEL * largest ? far(close, left, right) : undefined;
    const move = this.#typicalStep(i);
    const isFar = levels.every((level) => Math.abs(level) > ZERO_MOVES * move);
    return isFar ? far(close, left, right) : undefined;
  }

  /** The nearest first. */
  #before(i: number): number[] {
    const { day, was } = this.#entries[i]!;
    const near = this.#accepted
      .filter((one) => day - one.day <= NEIGHBOUR_DAYS)
      .map((one) => one.close)
      .reverse();
    return near.length === 0 && was !== undefined ? [was] : near; // alone, a correction is compared with what it corrects
  }

  #after(i: number): number[] {
    const { day } = this.#entries[i]!;
    const next = this.#entries.slice(i + 1, i + 1 + SIDE_BARS);
    return next.filter((one) => one.day - day <= NEIGHBOUR_DAYS).map((one) => one.close);
  }

  /** The median |ln return| around a bar, without the bar's own; undefined where there are too few, or none at all moved. */
  #typicalMove(i: number): number | undefined {
    const moves = this.#pairsAround(i)
      .filter(([from, to]) => from > 0 && to > 0)
      .map(([from, to]) => Math.abs(Math.log(to / from)));
    return moves.length < MOVES_LEAST ? undefined : median(moves) || undefined;
  }

  /** The median absolute change around a bar; 0 where there is none. */
  #typicalStep(i: number): number {
    return median(this.#pairsAround(i).map(([from, to]) => Math.abs(to - from))) ?? 0;
  }

  #pairsAround(i: number): [number, number][] {
    const [first, last] = [Math.max(1, i - MOVES_BARS), Math.min(this.#entries.length - 1, i + MOVES_BARS)];
    const pairs: [number, number][] = [];
    for (let k = first; k <= last; k++) {
      if (k !== i && k !== i + 1) pairs.push([this.#entries[k - 1]!.close, this.#entries[k]!.close]);
    }
    return pairs;
  }
}

/** Merges accepted closes and bars to judge, by day. */
function merge<B extends Bar>(bars: readonly B[], known: readonly KnownClose[]): Entry<B>[] {
  const entries: Entry<B>[] = [];
  let k = 0;
  for (const bar of bars) {
    for (; k < known.length && known[k]!.day < bar.day; k++) entries.push({ ...known[k]!, bar: undefined });
    const same = known[k]?.day === bar.day ? known[k++] : undefined;
    entries.push({ day: bar.day, close: bar.close, bar, ...(same && { was: same.close }) });
  }
  for (; k < known.length; k++) entries.push({ ...known[k]!, bar: undefined });
  return entries;
}

function isNearLast({ open, high, low, close }: Bar, last: number): boolean {
  const lowest = Math.min(open, high, low, close, last);
  return lowest > 0 && Math.max(open, high, low, close, last) <= NEAR * lowest;
}

function rangeReason({ open, high, low, close }: Bar, canBeZero: boolean): string | undefined {
  const limit = canBeZero ? RANGE_ENERGY : RANGE;
  const wrong = [open, high, low].find((price) => price > 0 && Math.abs(Math.log(price / close)) > limit);
  return wrong === undefined
    ? undefined
    : `${printNumber(wrong)} is far from its close ${printNumber(close)}`;
}

/** The least distance to any of the levels. */
function distance(price: number, ...levels: number[]): number {
  return Math.min(...levels.filter((level) => level > 0).map((level) => Math.abs(Math.log(price / level))));
}

function limitOf({ moves, least, most }: Limit, typicalMove: number | undefined): number {
  return typicalMove === undefined ? most : Math.min(most, Math.max(least, moves * typicalMove));
}

function agreeing(price: number, others: readonly number[]): number {
  return others.filter((other) => other > 0 && Math.abs(Math.log(other / price)) <= AGREE).length;
}

/** The median of the neighbours above zero on one side; of two middle ones, the one that is nearer to the price. */
function levelNear(price: number, closes: readonly number[]): number | undefined {
  const sorted = closes.filter((close) => close > 0).sort((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  const [low, high] = [sorted[(sorted.length - 1) >>> 1]!, sorted[sorted.length >>> 1]!];
  return distance(price, low) <= distance(price, high) ? low : high;
}

function far(close: number, before: number | undefined, after: number | undefined): string {
  const sides = [
    ...(before === undefined ? [] : [`${printNumber(before)} before`]),
    ...(after === undefined ? [] : [`${printNumber(after)} after`]),
  ];
  return `${printNumber(close)} is far from its neighbours (${sides.join(', ')})`;
}
