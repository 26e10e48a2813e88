import type { AuditLog } from '../audit/audit-log.ts';
import type { Engine } from '../engine/engine.ts';
import type { Sql } from '../engine/rows.ts';
import type { NewBar } from '../prices/bars.ts';
import { type PublishResult, publishBars } from '../prices/publish-bars.ts';
import type { SymbolDay } from '../symbols/origin.ts';
import { findSource, OPERATOR } from '../symbols/sources.ts';
import { type DayVersion, readVersions, undoneRevisions, versionBefore } from './day-versions.ts';
import { isTickBar, type RestoredDay, restoredBar, TickBars } from './tick-bars.ts';
import { type BarRow, recordDays, writeRevisions } from './withdrawals.ts';

/** Why and when an operator changes prices. */
export interface PriceCorrection {
  reason: string;
  recordedAt: number;
}

/** Corrects single days by hand, and takes the operator's changes back. Every change is a revision. */
export class CorrectionStore {
  readonly #engine: Engine;
  readonly #audit: AuditLog;

  constructor(engine: Engine, audit: AuditLog) {
    this.#engine = engine;
    this.#audit = audit;
  }

  /** Publishes the operator's prices of a day. A feed does not replace them by repeating its own. */
  correct(bar: NewBar, { reason, recordedAt }: PriceCorrection): Promise<PublishResult> {
    return this.#engine.writePrices(async (tx) => {
      const result = await publishBars(this.#engine, tx, [bar], { source: OPERATOR, reason, recordedAt });
      if (result.unchanged === 0) await recordDays(tx, this.#audit, 'bars.correct', [bar], reason);
      return result;
    });
  }

  /**
   * Gives days the prices that they had before the operator's last withdrawal or correction that is not reverted yet. A
   * day that the operator has not changed, or that has changed since, stays as it is. `changedAt` leaves out changes that
   * were not recorded then. Returns the days that were reverted.
   */
  async revert(
    days: readonly SymbolDay[],
    { reason, recordedAt }: PriceCorrection,
    changedAt?: number,
  ): Promise<readonly SymbolDay[]> {
    const tickBars = await TickBars.open(this.#engine, recordedAt);
    const daysOf = () => changedDays(this.#engine.read, days, changedAt);
    return tickBars.write(daysOf, async (tx, revision, closingOf) => {
      const rows: BarRow[] = [];
      for (const changed of await changedDays(tx, days, changedAt)) {
        const bar = restoredBar(changed, await closingOf(changed), changed.current);
        rows.push({ ...bar, recordedAt, reason: isTickBar(bar) ? bar.reason : reason });
      }
      await writeRevisions(this.#engine, tx, rows, revision);
      await recordDays(tx, this.#audit, 'bars.revert', rows, reason);
      return rows.map(({ symbolId, day }) => ({ symbolId, day }));
    });
  }
}

interface ChangedDay extends RestoredDay {
  current: DayVersion;
}

/** The days, among `days`, whose current version is the operator's, each with its version before that change. */
async function changedDays(
  handle: Sql,
  days: readonly SymbolDay[],
  changedAt: number | undefined,
): Promise<ChangedDay[]> {
  const operator = await findSource(handle, OPERATOR);
  const undone = await undoneRevisions(handle);
  const changed: ChangedDay[] = [];
  for (const [symbolId, ofSymbol] of Map.groupBy(days, (one) => one.symbolId)) {
    const wanted = ofSymbol.map(({ day }) => day);
    const byDay = await readVersions(handle, symbolId, Math.min(...wanted), Math.max(...wanted));
    for (const day of wanted) {
      const versions = byDay.get(day) ?? [];
      const current = versions.at(-1);
      if (!current || (changedAt !== undefined && current.recordedAt !== changedAt)) continue;
      const isOperators = current.withdrawn
        ? current.withdrawn === 'operator'
        : current.sourceId === operator;
      if (!isOperators) continue;
      changed.push({ symbolId, day, current, earlier: versionBefore(versions, current, undone) });
    }
  }
  return changed;
}
