import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, onlyRow, optional, type RowValues, type Sql } from '../engine/rows.ts';
import { insertRows } from '../engine/statements.ts';
import { type LedgerTable, ledgerTables } from '../schema/tables.ts';
import { sumRows, sumTable, type TableSum } from './checksum.ts';
import { type MoveMarker, writeMarker } from './marker.ts';
import { metaRows } from './meta.ts';
import { countRows, pagesOf } from './rows.ts';
import { completeTarget, openTarget, resetTarget } from './target.ts';

/** A copied table, with the count and checksum that match in both ledgers. */
export interface MovedTable extends TableSum {
  name: string;
}

export interface MoveProgress {
  phase: 'copying' | 'verifying';
  table: string;
  /** Rows of all tables, including those of an interrupted move. */
  done: number;
  total: number;
}

export interface MoveOptions {
  onProgress?: (progress: MoveProgress) => void;
  /** Called when an interrupted move continues, and when it has to start over. */
  onNote?: (note: string) => void;
  rowsPerPage?: number;
  /** Whether what was written to the source during the move may be missing in the target. */
  allowsWrites?: boolean;
}

/** Small tables in which the target has its own rows until the move completes. */
const COPIED_LAST: readonly string[] = ['migration', 'meta'];

/**
 * Copies a whole ledger into an empty one, on either engine, and verifies every table:
 *
 *     snapshot of the source ─► copy, page by page ─► count and checksum of both ─► meta, a new epoch
 *                               each page commits     read again, table by table    the marker goes
 *                               with its marker
 *
 * An interrupted move continues from its marker. Throws without completing the target when a table differs.
 */
export async function moveLedger(
  source: Engine,
  target: Engine,
  options: MoveOptions = {},
): Promise<MovedTable[]> {
  const before = await stateOf(source.read);
  return source.snapshot(async (handle) => {
    const move = new Move(source, handle, target, options);
    const moved = await move.run();
    const after = await stateOf(source.read);
    if (!options.allowsWrites && !Bun.deepEquals(before, after)) {
      throw new Error(
        'the source was written to during the move: stop everything that uses it, and run the command again',
      );
    }
    return [...moved, ...(await move.complete())];
  });
}

class Move {
  readonly #source: Engine;
  readonly #handle: Sql;
  readonly #target: Engine;
  readonly #options: MoveOptions;
  readonly #tables = ledgerTables();
  readonly #total = new Map<string, number>();
  #done = 0;

  constructor(source: Engine, handle: Sql, target: Engine, options: MoveOptions) {
    this.#source = source;
    this.#handle = handle;
    this.#target = target;
    this.#options = options;
  }

  /** Copies and verifies all tables but the last two. */
  async run(): Promise<MovedTable[]> {
    const origin = await originOf(this.#handle);
    const tables = this.#tables.filter(({ name }) => !COPIED_LAST.includes(name));
    for (const table of tables) this.#total.set(table.name, await countRows(this.#handle, table));
    const note = this.#options.onNote ?? (() => {});
    const marker = await openTarget(this.#target, origin, this.#tables, note);
    if (marker.table !== undefined) note(`continuing an interrupted move at the table ${marker.table}`);
    await this.#copyAll(tables, marker);
    const found = await this.#verify(tables);
    if (!(found instanceof Error)) return found;
    if (marker.table === undefined) throw found;
    note('the source has changed since the move was interrupted: starting over');
    await resetTarget(this.#target, origin, this.#tables);
    await this.#copyAll(tables, origin);
    const again = await this.#verify(tables);
    if (again instanceof Error) throw again;
    return again;
  }

  /** Copies `meta` and `migration`, a few rows each, and makes the target a ledger of its own. */
  async complete(): Promise<MovedTable[]> {
    const migrations: RowValues[] = [];
    for await (const { rows } of pagesOf(this.#source, this.#handle, this.#named('migration')))
      migrations.push(...rows);
    const meta = await metaRows(this.#handle);
    await completeTarget(this.#target, meta, migrations);
    return [
      { name: 'migration', ...sumRows(migrations) },
      { name: 'meta', ...sumRows(meta) },
    ];
  }

  #named(name: string): LedgerTable {
    return this.#tables.find((table) => table.name === name)!;
  }

  async #copyAll(tables: readonly LedgerTable[], marker: MoveMarker): Promise<void> {
    this.#done = 0;
    const first = tables.findIndex(({ name }) => name === marker.table);
    for (const [i, table] of tables.entries()) {
      if (i < first) this.#report('copying', table, this.#total.get(table.name)!);
      else await this.#copy(table, marker, i === first ? marker.after : undefined);
    }
  }

  async #copy(table: LedgerTable, marker: MoveMarker, after: RowValues | undefined): Promise<void> {
    const { rowsPerPage } = this.#options;
    const into = `${table.name} (${table.columns.map(({ name }) => name).join(', ')})`;
    if (after) this.#report('copying', table, await countRows(this.#target.read, table));
    for await (const { rows, last } of pagesOf(this.#source, this.#handle, table, {
      after,
      ...(rowsPerPage !== undefined && { rowsPerPage }),
    })) {
      await this.#target.writePrices(async (tx) => {
        await insertRows(this.#target, tx, into, rows);
        await writeMarker(tx, { ...marker, table: table.name, after: last });
      });
      this.#report('copying', table, rows.length);
    }
  }

  /** Reads every table of both ledgers. Returns a difference as an error. */
  async #verify(tables: readonly LedgerTable[]): Promise<MovedTable[] | Error> {
    this.#done = 0;
    const verified: MovedTable[] = [];
    for (const table of tables) {
      const theirs = await sumTable(this.#source, this.#handle, table);
      const ours = await sumTable(this.#target, this.#target.read, table, (count) =>
        this.#report('verifying', table, count),
      );
      if (!Bun.deepEquals(theirs, ours)) return difference(table.name, theirs, ours);
      verified.push({ name: table.name, ...ours });
    }
    return verified;
  }

  #report(phase: MoveProgress['phase'], { name }: LedgerTable, rows: number): void {
    this.#done += rows;
    const total = [...this.#total.values()].reduce((sum, count) => sum + count, 0);
    this.#options.onProgress?.({ phase, table: name, done: this.#done, total });
  }
}

function difference(table: string, theirs: TableSum, ours: TableSum): Error {
  const say = ({ rows, checksum }: TableSum) => `${rows} rows, checksum ${checksum}`;
  return new Error(`the table ${table} differs: the source has ${say(theirs)}; the target has ${say(ours)}`);
}

/** The epoch and revisions of the source. */
async function originOf(handle: Sql): Promise<MoveMarker> {
  const row = onlyRow(
    await handle`SELECT
    (SELECT value FROM meta WHERE name = 'epoch') AS epoch,
    (SELECT value FROM counter WHERE name = 'prices') AS prices,
    (SELECT value FROM counter WHERE name = 'accounts') AS accounts`,
  );
  return { epoch: asText(row.epoch), prices: asNumber(row.prices), accounts: asNumber(row.accounts) };
}

/** A state that changes with every write of a price, an account or a count. */
async function stateOf(handle: Sql): Promise<unknown> {
  const { used, granted, periods } = onlyRow(
    await handle`SELECT sum(used) AS used, sum(granted) AS granted, count(*) AS periods FROM quota_period`,
  );
  const counts = [used, granted, periods].map((cell) => optional(asNumber)(cell) ?? 0); // a sum over no rows is NULL
  return { ...(await originOf(handle)), counts };
}
