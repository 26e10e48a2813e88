import type { Day } from '../day.ts';
import { type Interval, laterInterval } from '../interval.ts';
import { MovingMean } from './moving-mean.ts';
import { type Transform, transformed } from './transform.ts';

/** What is computed from the closes of consecutive rows. */
export interface Derivation {
  transform: Transform | undefined;
  /** How many intervals a change goes back. */
  period: number;
  /** How many closes a moving average has. */
  moving: number | undefined;
}

/** Longest period and moving average. It bounds the rows that are kept. */
export const ROWS_BACK_MAX = 500;

/** How many rows before the first one are needed. */
export function rowsBack({ transform, period, moving }: Derivation): number {
  const change = transform && transform !== 'index' ? period : 0;
  return Math.max(change, (moving ?? 1) - 1);
}

/** A close, and the first day of its interval. */
export interface IntervalClose {
  day: Day;
  close: number;
  /** Set if it was converted. */
  factor?: { isOne: boolean } | undefined;
}

/** The last closes of one series, in order, and what is derived from them. */
export class Closes {
  readonly #derivation: Derivation;
  readonly #interval: Interval;
  readonly #mean: MovingMean | undefined;
  /** The base of an index; the first close if none is given. */
  #base: number | undefined;
  readonly #rows: IntervalClose[] = [];

  constructor(derivation: Derivation, interval: Interval, decimals: number, base?: number) {
    this.#derivation = derivation;
    this.#interval = interval;
    const { moving } = derivation;
    this.#mean = moving === undefined ? undefined : new MovingMean(moving, decimals);
    this.#base = base;
  }

  /** Adds the close of the next row. */
  add(row: IntervalClose): void {
    this.#mean?.add(row);
    this.#rows.push({ day: row.day, close: row.close });
    if (this.#rows.length > 2 * ROWS_BACK_MAX + 2)
      this.#rows.splice(0, this.#rows.length - ROWS_BACK_MAX - 1);
  }

  /** The transform of the last close; undefined if there is no earlier close to compare it with. */
  transformed(): string | undefined {
    const { transform } = this.#derivation;
    const { close } = this.#rows.at(-1)!;
    if (!transform) return undefined;
    if (transform === 'index') this.#base ??= close;
    const base = transform === 'index' ? this.#base : this.#earlier();
    return base === undefined ? undefined : transformed(transform, base, close);
  }

  /** The mean of the last closes; undefined while there are too few. */
  movingAverage(): number | undefined {
    return this.#mean?.value();
  }

  /**
   * The close `period` intervals earlier. Days count as days with a price; longer intervals count by the calendar, so
   * that twelve months are a year even if a month has no price.
   */
  #earlier(): number | undefined {
    const { period } = this.#derivation;
    const interval = this.#interval;
    const rows = this.#rows;
    const last = rows.length - 1;
    if (interval === 'day') return rows[last - period]?.close;
    const day = laterInterval(interval, rows[last]!.day, -period);
    for (let i = Math.max(0, last - period); i < last; i++) if (rows[i]!.day === day) return rows[i]!.close;
    return undefined;
  }
}
