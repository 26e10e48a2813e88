import type { Day } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import type { Sql } from '../engine/rows.ts';
import { BAR_CHANGE } from '../prices/bars.ts';
import { type DayVersion, readVersions, undoneRevisions, versionBefore } from './day-versions.ts';
import { type ClosingOfDay, isTickBar, type RestoredDay, restoredBar, TickBars } from './tick-bars.ts';
import { type BarRow, writeRevisions } from './withdrawals.ts';

/** One day that an undo reverted. */
export interface UndoneDay {
  symbolId: number;
  day: Day;
  /** `kept`: the day has a later revision that this import did not write. */
  what: 'withdrawn' | 'restored' | 'kept';
  /** The close that the import had written. */
  close: number;
}

/** `earlier` is what was published before the import, without what other undone imports had written. */
interface ImportedDay extends RestoredDay {
  written: DayVersion;
  current: DayVersion;
}

/** Takes back what an import wrote, one of its revisions after the other. */
export class ImportUndo {
  readonly #engine: Engine;
  readonly #own: ReadonlySet<number>;
  readonly #reason: string;
  readonly #now: number;
  readonly #tickBars: TickBars;
  /** The revisions that the undo has written. */
  readonly #undone = new Set<number>();

  private constructor(
    engine: Engine,
    own: ReadonlySet<number>,
    reason: string,
    now: number,
    tickBars: TickBars,
  ) {
    this.#engine = engine;
    this.#own = own;
    this.#reason = reason;
    this.#now = now;
    this.#tickBars = tickBars;
  }

  /** `own` are the revisions of the import. */
  static async open(
    engine: Engine,
    own: ReadonlySet<number>,
    { reason, now }: { reason: string; now: number },
  ): Promise<ImportUndo> {
    return new ImportUndo(engine, own, reason, now, await TickBars.open(engine, now));
  }

  /** Reverts the days of a revision that nobody else has changed since, in one transaction. */
  async undo(revision: number): Promise<UndoneDay[]> {
    const daysOf = async () => {
      const days = await this.#daysOf(this.#engine.read, revision);
      return days.filter((day) => this.#own.has(day.current.origin));
    };
    const { next, undone } = await this.#tickBars.write(daysOf, async (tx, next, closingOf) => {
      return { next, undone: await this.#revert(tx, revision, next, closingOf) };
    });
    this.#undone.add(next);
    return undone;
  }

  /** Writes the revision `next`. */
  async #revert(tx: Sql, revision: number, next: number, closingOf: ClosingOfDay): Promise<UndoneDay[]> {
    const undone: UndoneDay[] = [];
    const rows: BarRow[] = [];
    for (const of of await this.#daysOf(tx, revision)) {
      const { symbolId, day, written, current } = of;
      let what: UndoneDay['what'] = 'kept';
      if (this.#own.has(current.origin)) {
        const row = restoredBar(of, await closingOf(of), current);
        const reason = isTickBar(row) ? row.reason : this.#reason;
        rows.push({ ...row, recordedAt: this.#now, reason });
        what = row.withdrawn ? 'withdrawn' : 'restored';
      }
      undone.push({ symbolId, day, what, close: written.close });
    }
    await writeRevisions(this.#engine, tx, rows, next);
    return undone;
  }

  /** The days that a revision of the import wrote, without those that are undone already. */
  async #daysOf(handle: Sql, revision: number): Promise<ImportedDay[]> {
    const select = `SELECT ${BAR_CHANGE.columns} FROM bar_change WHERE revision = ${this.#engine.placeholder(1)}`;
    const changes = (await handle.unsafe(select, [revision])).map(BAR_CHANGE.read);
    const skipped = this.#own.union(await undoneRevisions(handle));
    const days: ImportedDay[] = [];
    for (const { symbolId, firstDay, lastDay } of changes) {
      for (const [day, versions] of await readVersions(handle, symbolId, firstDay, lastDay)) {
        const written = versions.find((bar) => bar.revision === revision);
        const current = versions.at(-1)!;
        if (!written || current.reason === this.#reason || this.#undone.has(current.revision)) continue;
        days.push({ symbolId, day, written, current, earlier: versionBefore(versions, current, skipped) });
      }
    }
    return days;
  }
}
