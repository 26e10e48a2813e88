import type { AuditLog } from '../audit/audit-log.ts';
import { ImportUndo, type UndoneDay } from '../corrections/undo-import.ts';
import type { Engine } from '../engine/engine.ts';
import { takeNumbers } from '../engine/revisions.ts';
import { asNumber, asText, onlyRow, optional, rowReader, type Sql } from '../engine/rows.ts';

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
  /** Undefined while it runs, and when it was interrupted. */
  ended: number | undefined;
  /** When it was undone. */
  undone: number | undefined;
  file: string;
  source: string;
}

const RUN = rowReader<ImportRun>({
  number: asNumber,
  started: asNumber,
  ended: optional(asNumber),
  undone: optional(asNumber),
  file: asText,
  source: asText,
  taken: asNumber,
  corrected: asNumber,
  unchanged: asNumber,
  held: asNumber,
  refused: asNumber,
});

/** The imports, and what each wrote. */
export class ImportStore {
  readonly #engine: Engine;
  readonly #audit: AuditLog;

  constructor(engine: Engine, audit: AuditLog) {
    this.#engine = engine;
    this.#audit = audit;
  }

  /** Records that an import begins. Returns its number. */
  begin(file: string, source: string, started: number): Promise<number> {
    return this.#engine.write(async (tx) => {
      const { last } = onlyRow(await tx`SELECT coalesce(max(number), 0) AS last FROM import_run`);
      const number = await takeNumbers(tx, 'last-import', { lastUsed: asNumber(last) });
      await tx`INSERT INTO import_run (number, started, file, source, taken, corrected, unchanged, held, refused)
        VALUES (${number}, ${started}, ${file}, ${source}, 0, 0, 0, 0, 0)`;
      await this.#audit.record(tx, {
        action: 'import.start',
        target: importName(number),
        details: { file, source },
      });
      return number;
    });
  }

  async finish(run: number, ended: number, counts: ImportCounts): Promise<void> {
    const { taken, corrected, unchanged, held, refused } = counts;
    await this.#engine.write(async (tx) => {
      await requireRunning(tx, run);
      await tx`UPDATE import_run SET ended = ${ended}, taken = ${taken}, corrected = ${corrected},
        unchanged = ${unchanged}, held = ${held}, refused = ${refused} WHERE number = ${run}`;
    });
  }

  /** The newest first. */
  async list(limit: number): Promise<ImportRun[]> {
    const { read, placeholder: p } = this.#engine;
    const select = `SELECT ${RUN.columns} FROM import_run ORDER BY number DESC LIMIT ${p(1)}`;
    return (await read.unsafe(select, [limit])).map(RUN.read);
  }

  async find(number: number): Promise<ImportRun | undefined> {
    const { read, placeholder: p } = this.#engine;
    const [row] = await read.unsafe(`SELECT ${RUN.columns} FROM import_run WHERE number = ${p(1)}`, [number]);
    return row && RUN.read(row);
  }

  /**
   * Undoes an import: a day that it added is withdrawn, and a day that it corrected gets its earlier prices back, both as
   * new revisions. A day whose earlier bar was made of ticks, or that only had ticks, gets the bar of its ticks. A day that
   * has changed since is kept; what an undone import wrote is never restored. What it holds in quarantine is deleted. A running
   * import stops. `onDays` is called after each transaction, with the share of the work that is done. Returns the number of
   * deleted bars in quarantine.
   */
  async undo(
    run: number,
    now: number,
    onDays: (days: readonly UndoneDay[], share: number) => void,
  ): Promise<number> {
    const deleted = await this.#stop(run, now);
    const rows = await this.#engine.read`SELECT revision FROM import_revision WHERE run = ${run}
      ORDER BY revision DESC`;
    const own = new Set<number>(rows.map((row) => asNumber(row.revision)));
    const undo = await ImportUndo.open(this.#engine, own, { reason: `${importName(run)} undone`, now });
    const withKept: number[] = [];
    for (const [i, revision] of [...own].entries()) {
      const days = await undo.undo(revision);
      if (days.some(({ what }) => what === 'kept')) withKept.push(revision);
      onDays(days, (i + 1) / own.size);
    }
    await this.#engine.write(async (tx) => {
      await tx`UPDATE import_run SET undone = ${now} WHERE number = ${run}`;
      await this.#audit.record(tx, { action: 'import.undo', target: importName(run) });
    });
    // Until then, another undo or a revert could restore on these days what this import wrote.
    for (const revision of withKept) await undo.undo(revision);
    return deleted;
  }

  /** Ends an import, so that it writes nothing more, and deletes what it holds in quarantine. Returns how many bars. */
  #stop(run: number, now: number): Promise<number> {
    return this.#engine.write(async (tx) => {
      // The row is updated first: an import in a transaction holds its lock.
      await tx`UPDATE import_run SET ended = coalesce(ended, ${now}) WHERE number = ${run}`;
      const deleted = await tx`DELETE FROM quarantine_bar WHERE origin = ${importName(run)} AND state = 'held'
        RETURNING id`;
      return deleted.length;
    });
  }
}

/**
 * Runs first in each transaction of an import: throws if the import was undone meanwhile. The update locks the import's row,
 * so an undo begins after the transaction and finds what it wrote.
 */
export async function requireRunning(tx: Sql, run: number): Promise<void> {
  const [row] = await tx`UPDATE import_run SET ended = NULL WHERE number = ${run} AND ended IS NULL
    RETURNING number`;
  if (!row) throw new ImportUndone(`import ${run} was undone while it was running; it has stopped`);
}

/** The import was undone while it was running. */
export class ImportUndone extends Error {}

/** The name of an import run, as stored with the bars that it holds. */
export function importName(run: number): string {
  return `import ${run}`;
}

/**
 * Records which import wrote a revision. `run` names any run; only an import is recorded. What the operator releases after its
 * import was undone, or after the record of that was deleted, is no longer the import's.
 */
export async function noteRevision(tx: Sql, run: string, revision: number): Promise<void> {
  const number = /^import (\d+)$/.exec(run)?.[1];
  if (!number) return;
  await tx`INSERT INTO import_revision (run, revision)
    SELECT number, CAST(${revision} AS BIGINT) FROM import_run WHERE number = ${Number(number)} AND undone IS NULL`;
}
