import type { BarRevision } from '../../ledger/prices/bars.ts';
import { SIMULATED_ID } from '../../ledger/symbols/sources.ts';
import type { LedgerTick } from '../../ledger/ticks/tick.ts';
import type { Day } from '../../market/day.ts';
import { tickSeenFrom } from '../../market/visibility.ts';

/** A day, and the first horizon at which it has a price. */
export interface DatedDay {
  day: Day;
  seenFrom: number;
}

/**
 * The first and last date of a symbol whose prices are not loaded:
 *
 *     first … last │ recent days
 *     every view   │ each view from `seenFrom` on
 *
 * Immutable. Where the dates are not certain, there is no SeriesDates, and the prices are loaded instead.
 */
export class SeriesDates {
  readonly #first: Day | undefined;
  readonly #last: Day | undefined;
  /** Ascending, after `#last`. */
  readonly #recent: readonly DatedDay[];
  readonly #isReal: boolean;

  constructor(isReal: boolean, first: Day | undefined, last: Day | undefined, recent: readonly DatedDay[]) {
    this.#isReal = isReal;
    this.#first = first;
    this.#last = last;
    this.#recent = recent;
  }

  firstDay(horizon: number): Day | undefined {
    return this.#first ?? this.#recent.find(({ seenFrom }) => seenFrom <= horizon)?.day;
  }

  lastDay(horizon: number): Day | undefined {
    return this.#recent.findLast(({ seenFrom }) => seenFrom <= horizon)?.day ?? this.#last;
  }

  /** Whether new prices change neither date in any view. */
  stillHold(bars: readonly BarRevision[], ticks: readonly LedgerTick[]): boolean {
    const isInside = (day: Day) =>
      this.#first !== undefined && this.#last !== undefined && day > this.#first && day < this.#last;
    // With real prices, simulated ones are not shown; the first real price changes all dates.
    const isOwn = ({ sourceId }: { sourceId: number }) => (sourceId !== SIMULATED_ID) === this.#isReal;
    if (!this.#isReal && ![...bars, ...ticks].every(isOwn)) return false;
    const isKnown = (tick: LedgerTick) =>
      this.#recent.some(({ day, seenFrom }) => day === tick.day && seenFrom <= tickSeenFrom(tick));
    return (
      bars.filter(isOwn).every((bar) => isInside(bar.day)) &&
      ticks.filter(isOwn).every((tick) => isInside(tick.day) || isKnown(tick))
    );
  }
}
