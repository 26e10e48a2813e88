import type { BarRevision } from '../../ledger/prices/bars.ts';
import { SIMULATED_ID } from '../../ledger/symbols/sources.ts';
import type { LedgerTick } from '../../ledger/ticks/ticks.ts';
import type { Day } from '../../market/day.ts';
import { tickSeenFrom } from '../../market/visibility.ts';

/** A day, and the horizon from which on it has a price. */
export interface DatedDay {
  day: Day;
  seenFrom: number;
}

/**
 * The first and the last date of a symbol whose prices are not loaded:
 *
 *     first … last │ young days
 *     every view   │ each view from `seenFrom` on
 *
 * Immutable. What it cannot tell for sure it does not exist for, and the series is loaded instead.
 */
export class SeriesDates {
  readonly #first: Day | undefined;
  readonly #last: Day | undefined;
  /** Ascending, after `last`. */
  readonly #young: readonly DatedDay[];
  readonly #isReal: boolean;

  constructor(isReal: boolean, first: Day | undefined, last: Day | undefined, young: readonly DatedDay[]) {
    this.#isReal = isReal;
    this.#first = first;
    this.#last = last;
    this.#young = young;
  }

  firstDay(horizon: number): Day | undefined {
    return this.#first ?? this.#young.find(({ seenFrom }) => seenFrom <= horizon)?.day;
  }

  lastDay(horizon: number): Day | undefined {
    return this.#young.findLast(({ seenFrom }) => seenFrom <= horizon)?.day ?? this.#last;
  }

  /** Whether new prices leave both dates as they are, in every view. */
  coversAll(bars: readonly BarRevision[], ticks: readonly LedgerTick[]): boolean {
    const isInside = (day: Day) =>
      this.#first !== undefined && this.#last !== undefined && day > this.#first && day < this.#last;
    // Once there are real prices, simulated ones do not show; the first real one makes all dates new.
    const isOwn = ({ sourceId }: { sourceId: number }) => (sourceId !== SIMULATED_ID) === this.#isReal;
    if (!this.#isReal && ![...bars, ...ticks].every(isOwn)) return false;
    const isKnown = (tick: LedgerTick) =>
      this.#young.some(({ day, seenFrom }) => day === tick.day && seenFrom <= tickSeenFrom(tick));
    return (
      bars.filter(isOwn).every((bar) => isInside(bar.day)) &&
      ticks.filter(isOwn).every((tick) => isInside(tick.day) || isKnown(tick))
    );
  }
}
