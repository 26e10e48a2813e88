import type { BarRevision } from '../../../ledger/prices/bars.ts';
import type { Day } from '../../../market/day.ts';

/** The revisions of bars that some views of a history show and others do not yet. */
export class UnsettledBars {
  #bars: BarRevision[] = [];

  /** Returns false if it is already there. */
  add(bar: BarRevision): boolean {
    if (this.#bars.some((known) => known.day === bar.day && known.revision === bar.revision)) return false;
    this.#bars.push(bar);
    return true;
  }

  has(day: Day): boolean {
    return this.#bars.some((bar) => bar.day === day);
  }

  hasWithdrawnTicks(day: Day): boolean {
    return this.#bars.some((bar) => bar.day === day && bar.ticksWithdrawnUntil !== undefined);
  }

  /** Removes those that are settled and returns them. A bar stays until its withdrawal is settled, too. */
  takeSettled(isSettled: (bar: BarRevision) => boolean): BarRevision[] {
    const settled = this.#bars.filter((bar) => isSettled(bar) && !this.#awaitsWithdrawal(bar, isSettled));
    if (settled.length > 0) this.#bars = this.#bars.filter((bar) => !settled.includes(bar));
    return settled;
  }

  #awaitsWithdrawal({ day, revision }: BarRevision, isSettled: (bar: BarRevision) => boolean): boolean {
    return this.#bars.some(
      (other) => other.withdrawn && other.day === day && other.revision > revision && !isSettled(other),
    );
  }
}
