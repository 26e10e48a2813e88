import type { Day } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision } from '../engine/revisions.ts';
import type { RowValues, Sql } from '../engine/rows.ts';
import { insertRows, ROWS_PER_TRANSACTION } from '../engine/statements.ts';
import { type SymbolDay, unmarkReal } from '../symbols/origin.ts';
import { sourceId } from '../symbols/sources.ts';
import { type BarRevision, readRevisions, WITHDRAWN, type WithdrawnBy } from './bars.ts';

/** Why the bars of some days are withdrawn. */
export interface Withdrawal {
  by: WithdrawnBy;
  reason: string;
  recordedAt: number;
  /** Only bars of this source. */
  source?: string;
  /** Runs first in each transaction; an exception rolls it back. */
  before?(tx: Sql): Promise<void>;
}

/** The revision that was withdrawn. */
export interface WithdrawnBar extends BarRevision {
  symbolId: number;
}

/** Bars that are to be withdrawn, or restored, as new revisions. */
export interface BarRow extends Omit<WithdrawnBar, 'revision' | 'day'> {
  day: Day;
}

export class WithdrawalStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Withdraws the current bars of some days, in transactions of 2,000. Returns the withdrawn bars. */
  async withdraw(days: readonly SymbolDay[], withdrawal: Withdrawal): Promise<WithdrawnBar[]> {
    const withdrawn: WithdrawnBar[] = [];
    for (let from = 0; from < days.length; from += ROWS_PER_TRANSACTION) {
      const chunk = days.slice(from, from + ROWS_PER_TRANSACTION);
      const some = await this.#engine.writePrices((tx) => withdrawBars(this.#engine, tx, chunk, withdrawal));
      for (const bar of some) withdrawn.push(bar);
    }
    return withdrawn;
  }
}

/**
 * Withdraws the current real bars of some days, in an open transaction. Each withdrawal is a new revision: the day has no
 * bar from now on, and an earlier `asOf` still finds it. Days without a bar are skipped.
 */
async function withdrawBars(
  engine: Engine,
  tx: Sql,
  days: readonly SymbolDay[],
  { by, reason, recordedAt, source, before }: Withdrawal,
): Promise<WithdrawnBar[]> {
  await before?.(tx);
  const revision = await nextRevision(tx, 'prices');
  const wantedSource = source === undefined ? undefined : await sourceId(tx, source);
  const found: WithdrawnBar[] = [];
  for (const [symbolId, ofSymbol] of Map.groupBy(days, (one) => one.symbolId)) {
    const current = await currentBars(tx, symbolId, new Set(ofSymbol.map(({ day }) => day)));
    for (const bar of current.values()) {
      if (bar.withdrawn || (wantedSource !== undefined && bar.sourceId !== wantedSource)) continue;
      found.push({ ...bar, symbolId });
    }
  }
  const rows = found.map((bar) => ({ ...bar, reason, recordedAt, withdrawn: by }));
  await writeRevisions(engine, tx, rows, revision);
  return found;
}

/** Writes revisions and records the changed days. */
export async function writeRevisions(
  engine: Engine,
  tx: Sql,
  bars: readonly BarRow[],
  revision: number,
): Promise<void> {
  if (bars.length === 0) return;
  await insertRows(
    engine,
    tx,
    'bar (symbol_id, day, revision, open, high, low, close, source_id, recorded_at, reason, withdrawn)',
    bars.map((bar): RowValues => {
      const { symbolId, day, open, high, low, close, recordedAt, reason, withdrawn } = bar;
      const flag = WITHDRAWN.indexOf(withdrawn);
      return [symbolId, day, revision, open, high, low, close, bar.sourceId, recordedAt, reason, flag];
    }),
  );
  const bySymbol = Map.groupBy(bars, (bar) => bar.symbolId);
  const changes = [...bySymbol].map(([symbolId, ofSymbol]): RowValues => {
    const days = ofSymbol.map(({ day }) => day);
    const recordedAt = Math.min(...ofSymbol.map((bar) => bar.recordedAt));
    return [revision, symbolId, Math.min(...days), Math.max(...days), recordedAt];
  });
  await insertRows(engine, tx, 'bar_change (revision, symbol_id, first_day, last_day, recorded_at)', changes);
  await unmarkReal(engine, tx, [...bySymbol.keys()], revision);
}

/** The current real revision of each of these days, withdrawn ones included. */
async function currentBars(
  tx: Sql,
  symbolId: number,
  days: ReadonlySet<Day>,
): Promise<Map<Day, BarRevision>> {
  const current = new Map<Day, BarRevision>();
  const [first, last] = [Math.min(...days), Math.max(...days)];
  for (const bar of await readRevisions(tx, symbolId, 'real', first, last)) {
    if (days.has(bar.day)) current.set(bar.day, bar);
  }
  return current;
}
