import { median } from './median.ts';

/**
 * Decides when a tick is too far from its neighbours to be accepted immediately. A held tick is released, at its own time,
 * when three more ticks of its source or one of another source agree with it. Otherwise it is dropped after a while.
 */

/** What the rule needs of a tick. */
export interface WatchedTick {
  at: number;
  price: number;
  sourceId: number;
}

/** What the rule needs of a symbol. */
export interface PriceTraits {
  /** Whether the price can be zero or below. If not, a change of sign is a reason to hold a tick. */
  canBeZero: boolean;
  /** The smallest step of a price: 0.01 for two decimals. */
  step: number;
}

/** An unconfirmed tick is dropped after this time. Ticks within this time confirm each other. */
export const QUARANTINE_MS = 15 * 60_000;

/** How many earlier ticks determine the usual movement. */
export const WINDOW_TICKS = 50;
/** The tolerance, in median absolute deviations (MAD) of those ticks. */
const TOLERANCE_MADS = 10;
/** How many ticks of the same source release a held one. */
const CONFIRMATIONS = 3;
/** The minimum tolerance as a share of the price: within a quarter of an hour, and over a longer gap such as a weekend. */
const FLOOR_NEAR = 0.1;
const FLOOR_FAR = 0.5;
/** The minimum tolerance near zero, where a share of the price is too small. */
const FLOOR_STEPS = 20;

/** The ticks of one symbol: the accepted ones by time, and the held ones. */
export class TickWatch<T extends WatchedTick> {
  readonly #traits: PriceTraits;
  readonly #accepted: T[];
  #held: T[];

  /** `accepted` must be sorted by time. */
  constructor(traits: PriceTraits, accepted: readonly T[], held: readonly T[]) {
    this.#traits = traits;
    this.#accepted = [...accepted];
    this.#held = [...held];
  }

  /** Judges one tick. Returns the reason to hold it, or undefined if it is accepted. */
  take(tick: T): string | undefined {
    const reason = this.#reasonToHold(tick);
    if (reason === undefined) this.#accept(tick);
    else this.#held.push(tick);
    return reason;
  }

  /** Releases held ticks that later ticks have confirmed. They count as accepted from here on. */
  release(): T[] {
    const released: T[] = [];
    for (;;) {
      const next = this.#held.find(
        (tick) => this.#isConfirmed(tick) || this.#reasonToHold(tick) === undefined,
      );
      if (!next) return released;
      this.#held = this.#held.filter((tick) => tick !== next);
      this.#accept(next);
      released.push(next);
    }
  }

  #reasonToHold(tick: T): string | undefined {
    const index = this.#indexAfter(tick.at);
    const neighbours = [this.#accepted[index - 1], this.#accepted[index]].filter((one) => one !== undefined);
    if (neighbours.length === 0) return undefined;
    if (isBelowZero(this.#traits, tick, neighbours)) {
      return `${tick.price} is not above zero as its neighbour ${neighbours[0]!.price} is`;
    }
    if (neighbours.some((one) => distance(tick, one) <= floorOf(this.#traits, tick, one))) return undefined;
    const spread = TOLERANCE_MADS * this.#madAround(index); // last, because it is the slowest
    if (neighbours.some((one) => distance(tick, one) <= spread)) return undefined;
    return `${tick.price} is far from its neighbour ${neighbours[0]!.price}`;
  }

  /** Whether enough other ticks, accepted or held, agree at about the same time. */
  #isConfirmed(tick: T): boolean {
    const spread = TOLERANCE_MADS * this.#madAround(this.#indexAfter(tick.at));
    let own = 0;
    for (const other of this.#around(tick)) {
      if (distance(tick, other) > Math.max(spread, floorOf(this.#traits, tick, other))) continue;
      if (other.sourceId !== tick.sourceId) return true;
      own++;
    }
    return own >= CONFIRMATIONS;
  }

  *#around(tick: T): Generator<T> {
    for (const other of this.#held) {
      if (other !== tick && Math.abs(other.at - tick.at) <= QUARANTINE_MS) yield other;
    }
    for (let i = this.#indexAfter(tick.at - QUARANTINE_MS); i < this.#accepted.length; i++) {
      const other = this.#accepted[i]!;
      if (other.at > tick.at + QUARANTINE_MS) return;
      yield other;
    }
  }

  /** The median absolute deviation of the ticks before a position, or after it if there are too few. */
  #madAround(index: number): number {
    const first = Math.max(0, index - WINDOW_TICKS);
    const prices = this.#accepted.slice(first, first + WINDOW_TICKS).map((tick) => tick.price);
    const middle = median(prices) ?? 0;
    return median(prices.map((price) => Math.abs(price - middle))) ?? 0;
  }

  #accept(tick: T): void {
    this.#accepted.splice(this.#indexAfter(tick.at), 0, tick);
  }

  /** The index after the accepted ticks that are not later than `at`. */
  #indexAfter(at: number): number {
    let [low, high] = [0, this.#accepted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#accepted[middle]!.at <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

type Priced = Pick<WatchedTick, 'at' | 'price'>;

/** An accepted tick. Its price is undefined if it was withdrawn. */
interface KnownNeighbour {
  at: number;
  price: number | undefined;
}

/** The accepted ticks around a new one. */
export interface TickNeighbours {
  /** The last one before it. If it was withdrawn, earlier ones decide. */
  before: KnownNeighbour | undefined;
  /** The time of the first one that is not before it; Infinity if there is none. */
  nextAt: number;
}

const NO_NEIGHBOURS: TickNeighbours = { before: undefined, nextAt: Number.POSITIVE_INFINITY };

/**
 * Whether each of the new ticks, which must be sorted by time, is accepted because of the tick before it. True implies the
 * same result from TickWatch, whatever other ticks there are; when false, TickWatch must decide. `neighbours` has those at
 * the time of each tick, or of the first one only if no accepted tick lies between the new ones.
 */
export function areWithinTolerance(
  traits: PriceTraits,
  ticks: readonly Priced[],
  neighbours: ReadonlyMap<number, TickNeighbours>,
): boolean {
  let previous: Priced | undefined;
  for (const tick of ticks) {
    const { before, nextAt } = neighbours.get(tick.at) ?? NO_NEIGHBOURS;
    if (nextAt === tick.at) return false; // an accepted tick of the same time comes before it
    const neighbour = !previous || (before && before.at > previous.at) ? before : previous;
    if (neighbour ? !isNear(traits, tick, neighbour) : nextAt !== Number.POSITIVE_INFINITY) return false;
    previous = tick;
  }
  return true;
}

function isNear(traits: PriceTraits, tick: Priced, { at, price }: KnownNeighbour): boolean {
  if (price === undefined) return false;
  const known = { at, price };
  return !isBelowZero(traits, tick, [known]) && distance(tick, known) <= floorOf(traits, tick, known);
}

function isBelowZero({ canBeZero }: PriceTraits, tick: Priced, neighbours: readonly Priced[]): boolean {
  return !canBeZero && tick.price <= 0 && neighbours.every((one) => one.price > 0);
}

function distance(a: Priced, b: Priced): number {
  return Math.abs(a.price - b.price);
}

function floorOf({ step }: PriceTraits, a: Priced, b: Priced): number {
  const part = Math.abs(a.at - b.at) <= QUARANTINE_MS ? FLOOR_NEAR : FLOOR_FAR;
  return Math.max(part * Math.max(Math.abs(a.price), Math.abs(b.price)), FLOOR_STEPS * step);
}
