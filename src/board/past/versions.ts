import type { Ledger } from '../../ledger/ledger.ts';
import type { DayRange, OriginSymbols } from '../../ledger/prices/past.ts';
import type { SymbolRevision } from '../../ledger/prices/revision-store.ts';
import { symbolDayKey } from '../../ledger/symbols/origin.ts';
import type { Day } from '../../market/day.ts';
import { marketOf } from '../../market/session.ts';
import { isBarSeen } from '../../market/visibility.ts';
import type { Series } from '../series/series.ts';
import { type PastMoment, type VisibleHistory, visibleHistories } from './visible-history.ts';

/** Versions of days, and the last day that was read. */
export interface RevisedDays {
  versions: SymbolRevision[];
  readTo: Day;
}

/** The versions of bars that a plan can see, read from the ledger. */
export class PastVersions {
  readonly #ledger: Ledger;
  readonly #horizon: number;
  readonly #series: ReadonlyMap<number, Series>;
  readonly #histories: ReadonlyMap<Series, VisibleHistory>;
  readonly #sets: readonly OriginSymbols[];

  private constructor(
    ledger: Ledger,
    horizon: number,
    series: ReadonlyMap<number, Series>,
    histories: ReadonlyMap<Series, VisibleHistory>,
    sets: readonly OriginSymbols[],
  ) {
    this.#ledger = ledger;
    this.#horizon = horizon;
    this.#series = series;
    this.#histories = histories;
    this.#sets = sets;
  }

  static async open(ledger: Ledger, series: readonly Series[], moment: PastMoment): Promise<PastVersions> {
    const byId = new Map(series.map((one) => [one.symbol.id, one]));
    const histories = await visibleHistories(ledger, [...byId.values()], moment);
    // If all real prices were withdrawn, no price is visible, but their versions are.
    const byOrigin = Map.groupBy(byId.values(), (one) => histories.get(one)?.origin ?? 'real');
    const sets = [...byOrigin].map(([origin, members]) => ({
      origin,
      symbolIds: members.map(({ symbol }) => symbol.id),
    }));
    return new PastVersions(ledger, moment.horizon, byId, histories, sets);
  }

  firstDay(series: Series): Day | undefined {
    return this.#histories.get(series)?.firstDay;
  }

  lastDay(series: Series): Day | undefined {
    return this.#histories.get(series)?.lastDay;
  }

  /** Every visible version of one day's bars, the oldest of each symbol first. */
  async ofDay(day: Day): Promise<SymbolRevision[]> {
    const found = await this.#each((set) => this.#ledger.revisions.ofDay(set, day));
    return found.flat().filter((bar) => this.#isVisible(bar));
  }

  /** All versions of the days with more than one visible version. Stops at the end of a day after about `limit` versions. */
  async ofRange(days: DayRange, limit: number): Promise<RevisedDays> {
    const found = await this.#each((set) => this.#ledger.revisions.revised(set, days, limit + 1));
    const all = found.flat().sort((a, b) => a.day - b.day);
    // The last day of a list that reached the limit may lack versions.
    const incomplete = found.flatMap((list) => (list.length > limit ? [list.at(-1)!.day] : []));
    if (all.length > limit) incomplete.push(all[limit]!.day);
    if (incomplete.length === 0) return { versions: this.#revised(all), readTo: days.last };
    const readTo = Math.max(all[0]!.day, Math.min(...incomplete) - 1);
    const isWhole = readTo < Math.min(...incomplete);
    const versions = isWhole ? all.filter((bar) => bar.day <= readTo) : await this.ofDay(readTo);
    return { versions: this.#revised(versions), readTo };
  }

  /** Keeps the days with more than one visible version. */
  #revised(versions: readonly SymbolRevision[]): SymbolRevision[] {
    const visible = versions.filter((bar) => this.#isVisible(bar));
    const perDay = Map.groupBy(visible, symbolDayKey);
    return visible.filter((one) => perDay.get(symbolDayKey(one))!.length > 1);
  }

  async #each<T>(read: (set: OriginSymbols) => Promise<T>): Promise<T[]> {
    const found: T[] = [];
    for (const set of this.#sets) found.push(await read(set));
    return found;
  }

  #isVisible(bar: SymbolRevision): boolean {
    return isBarSeen(bar, marketOf(this.#series.get(bar.symbolId)!.symbol.market), this.#horizon);
  }
}
