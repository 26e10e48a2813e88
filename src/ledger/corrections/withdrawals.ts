import { type Day, printDay } from '../../market/day.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision } from '../engine/revisions.ts';
import { asText, onlyRow, type RowValues, type Sql } from '../engine/rows.ts';
import { insertRows, ROWS_PER_TRANSACTION } from '../engine/statements.ts';
import { type BarRevision, readRevisions, WITHDRAWN, type WithdrawnBy } from '../prices/bars.ts';
import { markReal, type SymbolDay, unmarkReal } from '../symbols/origin.ts';
import { sourceId } from '../symbols/sources.ts';

/** Characters of the reason that an operator gives. */
export const REASON_MAX = 500;

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
export type BarRow = Omit<WithdrawnBar, 'revision' | 'ticksWithdrawnUntil'>;

export class WithdrawalStore {
  readonly #engine: Engine;
  readonly #audit: AuditLog;

  constructor(engine: Engine, audit: AuditLog) {
    this.#engine = engine;
    this.#audit = audit;
  }

  /** Withdraws the current bars of some days, in transactions of 2,000. Returns the withdrawn bars. */
  async withdraw(days: readonly SymbolDay[], withdrawal: Withdrawal): Promise<WithdrawnBar[]> {
    const withdrawn: WithdrawnBar[] = [];
    for (let from = 0; from < days.length; from += ROWS_PER_TRANSACTION) {
      const chunk = days.slice(from, from + ROWS_PER_TRANSACTION);
      const some = await this.#engine.writePrices(async (tx) => {
        const bars = await withdrawBars(this.#engine, tx, chunk, withdrawal);
        await recordDays(tx, this.#audit, 'bars.withdraw', bars, withdrawal.reason);
        return bars;
      });
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
  const rows = found.map((bar) => ({ ...bar, reason, recordedAt, withdrawn: by, restores: null }));
  await writeRevisions(engine, tx, rows, revision);
  return found;
}

/** Records which days of which symbols an operator has changed, and why. */
export async function recordDays(
  tx: Sql,
  audit: AuditLog,
  action: 'bars.withdraw' | 'bars.correct' | 'bars.revert',
  bars: readonly SymbolDay[],
  reason: string,
): Promise<void> {
  for (const [symbolId, ofSymbol] of Map.groupBy(bars, (bar) => bar.symbolId)) {
    const { code } = onlyRow(await tx`SELECT code FROM symbol WHERE id = ${symbolId}`);
    const days = ofSymbol.map(({ day }) => day);
    const [startDate, endDate] = [Math.min(...days), Math.max(...days)].map(printDay);
    const details = { startDate, endDate, days: days.length, reason };
    await audit.record(tx, { action, target: asText(code), details });
  }
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
    'bar (symbol_id, day, revision, open, high, low, close, source_id, recorded_at, reason, withdrawn, restores)',
    bars.map((bar): RowValues => {
      const { symbolId, day, open, high, low, close, sourceId, recordedAt, reason, restores } = bar;
      const flag = WITHDRAWN.indexOf(bar.withdrawn);
      const prices = [open, high, low, close];
      return [symbolId, day, revision, ...prices, sourceId, recordedAt, reason, flag, restores];
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
  const restored = bars.filter(({ withdrawn }) => !withdrawn).map(({ symbolId }) => symbolId);
  await markReal(engine, tx, [...new Set(restored)], revision);
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
