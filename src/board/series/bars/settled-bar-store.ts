import type { BarRevision } from '../../../ledger/prices/bars.ts';
import { type Day, EARLIEST_DAY } from '../../../market/day.ts';
import { Columns } from './columns.ts';

/**
 * The bars that every view shows: recent days one by one and, once loaded, the last two years or the whole
 * history in columns.
 */
export class SettledBarStore {
  /** By day, with withdrawals. */
  readonly #recent = new Map<Day, BarRevision>();
  /** The first of the recent days. */
  recentFrom: Day = EARLIEST_DAY;
  firstDay: Day | undefined;
  newest: BarRevision | undefined;
  columns: Columns | undefined;
  /** While the columns are read: the changes that they may miss. */
  #columnChanges: ((columns: Columns) => void)[] | undefined;

  recent(day: Day): BarRevision | undefined {
    return this.#recent.get(day);
  }

  /** The recent days that have a bar, ascending. */
  recentDays(): Day[] {
    const days = [...this.#recent.values()].filter((bar) => !bar.withdrawn).map((bar) => bar.day);
    return days.sort((a, b) => a - b);
  }

  /** A copy of the recent bars. */
  recentColumns(): Columns {
    const columns = new Columns(this.recentFrom);
    for (const day of this.recentDays()) {
      const bar = this.#recent.get(day)!;
      columns.set(day, bar, bar.sourceId);
    }
    return columns;
  }

  add(bar: BarRevision): void {
    const known = this.#recent.get(bar.day);
    if (known && known.revision > bar.revision) return;
    if (bar.day >= this.recentFrom) this.#recent.set(bar.day, bar);
    if (bar.withdrawn) {
      this.#remove(bar.day);
      return;
    }
    if (!this.newest || bar.day >= this.newest.day) this.newest = bar;
    if (this.firstDay === undefined || bar.day < this.firstDay) this.firstDay = bar.day;
    this.#changeColumns((columns) => columns.set(bar.day, bar, bar.sourceId));
  }

  /** Removes the bar of a recent day and returns it; undefined if the day has none. */
  take(day: Day): BarRevision | undefined {
    const bar = this.#recent.get(day);
    if (!bar || bar.withdrawn) return undefined;
    this.#recent.delete(day);
    this.#remove(day);
    return bar;
  }

  /** Replaces the columns. Bars may be added and taken while `read` reads the new ones. */
  async loadColumns(read: () => Promise<Columns>): Promise<void> {
    const changes: ((columns: Columns) => void)[] = [];
    this.#columnChanges = changes;
    try {
      const columns = await read();
      for (const change of changes) change(columns);
      this.dropColumns();
      this.columns = columns;
    } finally {
      this.#columnChanges = undefined;
    }
  }

  /** Discards the columns but keeps the recent days. */
  dropColumns(): void {
    this.columns?.forgetTexts();
    this.columns = undefined;
  }

  #remove(day: Day): void {
    this.#changeColumns((columns) => columns.remove(day));
    if (this.newest?.day === day) this.newest = this.#recent.get(this.recentDays().at(-1)!);
  }

  #changeColumns(change: (columns: Columns) => void): void {
    if (this.columns) change(this.columns);
    this.#columnChanges?.push(change);
  }
}
