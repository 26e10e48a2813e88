import { type Bar, type Ohlc, sameOhlc } from '../../market/bar.ts';
import { type Day, EARLIEST_DAY, LAST_DAY, printDay } from '../../market/day.ts';
import { printOhlc } from './ohlc.ts';

/** A body with more unusable rows is rejected as a whole. */
const REFUSED_MAX = 10_000;

/** ECB's full history, the largest body of a provider, has 300,000 and grows by 8,000 a year. */
const OBSERVATIONS_MAX = 500_000;

/** The price of a series on a day, and its place in the body. */
export interface CollectedBar extends Bar {
  series: string;
  where: string;
}

/**
 * Collects the prices of a body, row by row in any order. A day that appears twice with the same price counts once; with two
 * prices, neither is used and both are reported.
 */
export class Collector {
  readonly refused: { where: string; reason: string }[] = [];
  missing = 0;
  /** False once a row was unusable: a day that seems absent may be in that row. */
  isIntact = true;
  #observations = 0;
  readonly #series = new Map<string, Map<Day, CollectedBar>>();
  readonly #conflicts = new Map<string, Set<Day>>();
  readonly #refusedSeries = new Set<string>();

  /** Adds a price as open, high, low and close. */
  addValue(series: string, day: Day, value: number, where: string): void {
    this.add(series, day, { open: value, high: value, low: value, close: value }, where);
  }

  add(series: string, day: Day, ohlc: Ohlc, where: string): void {
    if (!(day >= EARLIEST_DAY && day <= LAST_DAY)) {
      this.refuse(where, 'its day is out of range');
      return;
    }
    let days = this.#series.get(series);
    if (!days) {
      days = new Map();
      this.#series.set(series, days);
    }
    const known = days.get(day);
    if (!known) {
      if (++this.#observations > OBSERVATIONS_MAX)
        throw new Error(`the body has more than ${OBSERVATIONS_MAX} observations`);
      const { open, high, low, close } = ohlc;
      days.set(day, { series, day, open, high, low, close, where });
    } else if (!sameOhlc(known, ohlc)) {
      this.#conflicts.set(series, (this.#conflicts.get(series) ?? new Set()).add(day));
      const both = `${printOhlc(known)} (${known.where}) and ${printOhlc(ohlc)} (${where})`;
      this.refuse(where, `${printDay(day)} has two prices, ${both}; neither is used`);
    }
  }

  /** Records why a row is unusable. */
  refuse(where: string, reason: string): void {
    this.isIntact = false;
    this.#refuse(where, reason);
  }

  #refuse(where: string, reason: string): void {
    this.refused.push({ where, reason });
    if (this.refused.length <= REFUSED_MAX) return;
    const first = this.refused[0]!;
    throw new Error(`more than ${REFUSED_MAX} rows are unusable; the first: ${first.where}: ${first.reason}`);
  }

  /** Records once why a series is unusable, however many rows it has. */
  refuseSeries(series: string, where: string, reason: string): void {
    if (this.#refusedSeries.has(series)) return;
    this.#refusedSeries.add(series);
    this.#refuse(where, reason);
  }

  /** The bars without conflicts, by series and ascending day. */
  bars(): CollectedBar[] {
    const all: CollectedBar[] = [];
    for (const [series, days] of this.#series) {
      const conflicts = this.#conflicts.get(series);
      const rows = [...days.values()].sort((a, b) => a.day - b.day);
      for (const row of rows) if (!conflicts?.has(row.day)) all.push(row);
    }
    return all;
  }
}
