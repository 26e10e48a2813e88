import type { Day } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision } from '../engine/revisions.ts';
import { asNumber, asText, onlyRow, type Row, type Sql } from '../engine/rows.ts';
import { readRevisions } from './bars.ts';
import { type BarRow, writeRevisions } from './withdrawals.ts';

/** What an import did. */
export interface ImportCounts {
  taken: number;
  corrected: number;
  unchanged: number;
  held: number;
  refused: number;
}

export interface ImportRun extends ImportCounts {
  number: number;
  started: number;
  /** Undefined while it runs, or when it was cut short. */
  ended: number | undefined;
  /** When it was undone. */
  undone: number | undefined;
  file: string;
  source: string;
}

/** One day that an undo put back. */
export interface UndoneDay {
  symbolId: number;
  day: Day;
  /** `kept`: a later revision of the day is not of this import. */
  what: 'withdrawn' | 'restored' | 'kept';
  /** The close that the import had written. */
  close: number;
}

/** The imports, and what each wrote. */
export class ImportStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Records that an import begins. Returns its number. */
  begin(file: string, source: string, started: number): Promise<number> {
    return this.#engine.write(async (tx) => {
      const row = onlyRow(
        await tx`INSERT INTO import_run
          (number, started, file, source, taken, corrected, unchanged, held, refused)
        SELECT coalesce(max(number), 0) + 1, ${started}, ${file}, ${source}, 0, 0, 0, 0, 0 FROM import_run
        RETURNING number`,
      );
      return asNumber(row.number);
    });
  }

  async finish(run: number, ended: number, counts: ImportCounts): Promise<void> {
    const { taken, corrected, unchanged, held, refused } = counts;
    await this.#engine.write(async (tx) => {
      await tx`UPDATE import_run SET ended = ${ended}, taken = ${taken}, corrected = ${corrected},
        unchanged = ${unchanged}, held = ${held}, refused = ${refused} WHERE number = ${run}`;
    });
  }

  /** The newest first. */
  async list(limit: number): Promise<ImportRun[]> {
    const rows = await this.#engine.read`SELECT * FROM import_run ORDER BY number DESC LIMIT ${limit}`;
    return rows.map(toRun);
  }

  async find(number: number): Promise<ImportRun | undefined> {
    const [row] = await this.#engine.read`SELECT * FROM import_run WHERE number = ${number}`;
    return row && toRun(row);
  }

  /**
   * Takes back what an import wrote: a day that it added is withdrawn, one that it corrected gets its earlier prices back,
   * both as new revisions. A day that has changed since stays. `onDays` is told of each, transaction by transaction.
   */
  async undo(run: number, now: number, onDays: (days: readonly UndoneDay[]) => void): Promise<void> {
    const rows = await this.#engine.read`SELECT revision FROM import_revision WHERE run = ${run}
      ORDER BY revision DESC`;
    const own = new Set<number>(rows.map((row) => asNumber(row.revision)));
    for (const revision of own) {
      onDays(
        await this.#engine.writePrices((tx) => undoRevision(this.#engine, tx, { run, revision, own, now })),
      );
    }
    await this.#engine.write(async (tx) => {
      await tx`UPDATE import_run SET undone = ${now} WHERE number = ${run}`;
    });
  }
}

/** The name of an import as the origin of what it brings. */
export function importName(run: number): string {
  return `import ${run}`;
}

/** Notes that a revision belongs to the import that is its origin, if it is one. */
export async function noteRevision(tx: Sql, origin: string, revision: number): Promise<void> {
  const run = /^import (\d+)$/.exec(origin)?.[1];
  if (run) await tx`INSERT INTO import_revision (run, revision) VALUES (${Number(run)}, ${revision})`;
}

async function undoRevision(
  engine: Engine,
  tx: Sql,
  { run, revision, own, now }: { run: number; revision: number; own: ReadonlySet<number>; now: number },
): Promise<UndoneDay[]> {
  const next = await nextRevision(tx, 'prices');
  const reason = `${importName(run)} undone`;
  const changes =
    await tx`SELECT symbol_id, first_day, last_day FROM bar_change WHERE revision = ${revision}`;
  const days: UndoneDay[] = [];
  const rows: BarRow[] = [];
  for (const change of changes) {
    const symbolId = asNumber(change.symbol_id);
    const found = await readRevisions(
      tx,
      symbolId,
      'real',
      asNumber(change.first_day),
      asNumber(change.last_day),
    );
    for (const [day, versions] of Map.groupBy(found, (bar) => bar.day)) {
      const written = versions.find((bar) => bar.revision === revision);
      const current = versions.at(-1)!;
      if (!written || current.reason === reason) continue;
      if (!own.has(current.revision)) {
        days.push({ symbolId, day, what: 'kept', close: written.close });
        continue;
      }
      const earlier = versions.findLast((bar) => !own.has(bar.revision));
      const back = earlier && !earlier.withdrawn ? earlier : undefined;
      rows.push({
        ...(back ?? current),
        symbolId,
        recordedAt: now,
        reason,
        withdrawn: back ? false : 'source',
      });
      days.push({ symbolId, day, what: back ? 'restored' : 'withdrawn', close: written.close });
    }
  }
  await writeRevisions(engine, tx, rows, next);
  return days;
}

function toRun(row: Row): ImportRun {
  const time = (value: string | number | null | undefined) =>
    value === null || value === undefined ? undefined : asNumber(value);
  return {
    number: asNumber(row.number),
    started: asNumber(row.started),
    ended: time(row.ended),
    undone: time(row.undone),
    file: asText(row.file),
    source: asText(row.source),
    taken: asNumber(row.taken),
    corrected: asNumber(row.corrected),
    unchanged: asNumber(row.unchanged),
    held: asNumber(row.held),
    refused: asNumber(row.refused),
  };
}
