import { type Bar, type Ohlc, sameOhlc } from '../../market/bar.ts';
import { type Day, EARLIEST_DAY, LAST_DAY, printDay } from '../../market/day.ts';
import { printNumber } from '../../market/decimal.ts';

/** A body of which more rows than this cannot be used is not the body that was meant; and the list must end somewhere. */
const REFUSED_MAX = 10_000;

/** ECB's full history, the largest body of a provider, has 300,000 and grows by 8,000 a year. */
const OBSERVATIONS_MAX = 500_000;

/** A day's price of one series, and where in the body it stands. */
export interface CollectedBar<W> extends Bar {
  series: string;
  where: W;
}

/**
 * Collects what a body says, row by row in any order. A day that is given twice with the same price is one day; with
 * two prices, neither is taken and both are named.
 */
export class Collector<W extends string | number> {
  readonly refused: { where: W; reason: string }[] = [];
  missing = 0;
  /** False once a row could not be used: what is absent then may be in that row. */
  isIntact = true;
  #observations = 0;
  readonly #series = new Map<string, Map<Day, CollectedBar<W>>>();
  readonly #disputed = new Map<string, Set<Day>>();
  readonly #refusedSeries = new Set<string>();
  readonly #place: (where: W) => string;

  constructor(place: (where: W) => string = String) {
    this.#place = place;
  }

  /** One price that is all four of a bar. */
  takeValue(series: string, day: Day, value: number, where: W): void {
    this.take(series, day, { open: value, high: value, low: value, close: value }, where);
  }

  take(series: string, day: Day, ohlc: Ohlc, where: W): void {
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
      this.#disputed.set(series, (this.#disputed.get(series) ?? new Set()).add(day));
      const both = `${say(known)} (${this.#place(known.where)}) and ${say(ohlc)} (${this.#place(where)})`;
      this.refuse(where, `${printDay(day)} has two prices, ${both}; neither is taken`);
    }
  }

  /** Says why a row is not taken. */
  refuse(where: W, reason: string): void {
    this.isIntact = false;
    this.#refuse(where, reason);
  }

  #refuse(where: W, reason: string): void {
    this.refused.push({ where, reason });
    if (this.refused.length <= REFUSED_MAX) return;
    const first = this.refused[0]!;
    throw new Error(
      `more than ${REFUSED_MAX} rows cannot be used; the first: ${this.#place(first.where)}: ${first.reason}`,
    );
  }

  /** Says once why nothing of a series is taken, however many rows it has. */
  refuseSeries(series: string, where: W, reason: string): void {
    if (this.#refusedSeries.has(series)) return;
    this.#refusedSeries.add(series);
    this.#refuse(where, reason);
  }

  /** What is undisputed, series by series, each from its first day to its last. */
  taken(): CollectedBar<W>[] {
    const all: CollectedBar<W>[] = [];
    for (const [series, days] of this.#series) {
      const disputed = this.#disputed.get(series);
      const rows = [...days.values()].sort((a, b) => a.day - b.day);
      for (const row of rows) if (!disputed?.has(row.day)) all.push(row);
    }
    return all;
  }
}

/** Bars whose low or high does not hold its open and close. They are kept: a source's word is not repaired. */
export function oddOnes<W>(rows: readonly CollectedBar<W>[]): { where: W; reason: string }[] {
  const odd: { where: W; reason: string }[] = [];
  for (const { open, high, low, close, where } of rows) {
    if (low <= Math.min(open, close, high) && high >= Math.max(open, close)) continue;
    odd.push({ where, reason: `open ${open}, high ${high}, low ${low}, close ${close} do not fit together` });
  }
  return odd;
}

function say({ open, high, low, close }: Ohlc): string {
  const all = [open, high, low, close].map(printNumber);
  return new Set(all).size === 1 ? all[0]! : all.join('/');
}
