import { type Fold, foldTick, ohlcOf } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision } from '../engine/revisions.ts';
import { asNumber, asText, onlyRow, optional, rowReader, type Sql } from '../engine/rows.ts';
import type { SymbolDay } from '../symbols/origin.ts';
import { SIMULATED_ID } from '../symbols/sources.ts';
import { ticksOf } from '../ticks/day-ticks.ts';
import type { LedgerTick } from '../ticks/rows.ts';
import { BAR_CHANGE, PROVISIONAL, readRevisions, TICK_REASONS } from './bars.ts';
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
  /** Undefined while it runs, or when it was interrupted. */
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

/** One day that an undo reverted. */
export interface UndoneDay {
  symbolId: number;
  day: Day;
  /** `kept`: the day has a later revision that this import did not write. */
  what: 'withdrawn' | 'restored' | 'kept';
  /** The close that the import had written. */
  close: number;
}

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
      const row = onlyRow(
        await tx`INSERT INTO import_run
          (number, started, file, source, taken, corrected, unchanged, held, refused)
        SELECT coalesce(max(number), 0) + 1, ${started}, ${file}, ${source}, 0, 0, 0, 0, 0 FROM import_run
        RETURNING number`,
      );
      const number = asNumber(row.number);
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
   * new revisions. A day that only had ticks gets a bar of them. A day that has changed since is kept. `onDays` is called
   * after each transaction.
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
      await this.#audit.record(tx, { action: 'import.undo', target: importName(run) });
    });
  }
}

/** The name of an import run, as stored with the bars that it holds. */
export function importName(run: number): string {
  return `import ${run}`;
}

/** Records which import wrote a revision. `run` names any run; only an import is recorded. */
export async function noteRevision(tx: Sql, run: string, revision: number): Promise<void> {
  const number = /^import (\d+)$/.exec(run)?.[1];
  if (number) await tx`INSERT INTO import_revision (run, revision) VALUES (${Number(number)}, ${revision})`;
}

async function undoRevision(
  engine: Engine,
  tx: Sql,
  { run, revision, own, now }: { run: number; revision: number; own: ReadonlySet<number>; now: number },
): Promise<UndoneDay[]> {
  const next = await nextRevision(tx, 'prices');
  const reason = `${importName(run)} undone`;
  const select = `SELECT ${BAR_CHANGE.columns} FROM bar_change WHERE revision = ${engine.placeholder(1)}`;
  const changes = (await tx.unsafe(select, [revision])).map(BAR_CHANGE.read);
  const days: UndoneDay[] = [];
  const rows: BarRow[] = [];
  for (const { symbolId, firstDay, lastDay } of changes) {
    const found = await readRevisions(tx, symbolId, 'real', firstDay, lastDay);
    const withTicks = await daysWithTicks(tx, symbolId, firstDay, lastDay);
    for (const [day, versions] of Map.groupBy(found, (bar) => bar.day)) {
      const written = versions.find((bar) => bar.revision === revision);
      const current = versions.at(-1)!;
      if (!written || current.reason === reason) continue;
      if (!own.has(current.revision)) {
        days.push({ symbolId, day, what: 'kept', close: written.close });
        continue;
      }
      const earlier = versions.findLast((bar) => !own.has(bar.revision));
      const ofTicks = !earlier && withTicks.has(day) ? await barOfTicks(tx, { symbolId, day }) : undefined;
      const back = earlier?.withdrawn ? undefined : (earlier ?? ofTicks);
      rows.push({
        ...(back ?? current),
        symbolId,
        day,
        recordedAt: now,
        // The bar of a session replaces one that was made of its ticks.
        reason: back && TICK_REASONS.has(back.reason) ? back.reason : reason,
        withdrawn: back ? false : 'source',
      });
      days.push({ symbolId, day, what: back ? 'restored' : 'withdrawn', close: written.close });
    }
  }
  await writeRevisions(engine, tx, rows, next);
  return days;
}

async function daysWithTicks(tx: Sql, symbolId: number, firstDay: Day, lastDay: Day): Promise<Set<Day>> {
  const rows = await tx`SELECT DISTINCT day FROM tick WHERE symbol_id = ${symbolId}
    AND day BETWEEN ${firstDay} AND ${lastDay} AND source_id <> ${SIMULATED_ID}`;
  return new Set(rows.map((row) => asNumber(row.day)));
}

/** The bar of all real ticks of a day, as at settlement. */
async function barOfTicks(tx: Sql, of: SymbolDay) {
  let fold: Fold<LedgerTick> | undefined;
  for (const tick of await ticksOf(tx, { ...of, origin: 'real' })) fold = foldTick(fold, tick);
  return fold && { ...ohlcOf(fold), sourceId: fold.close.sourceId, reason: PROVISIONAL };
}
