import { sameOhlc } from '../../market/bar.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision } from '../engine/revisions.ts';
import type { Sql } from '../engine/rows.ts';
import type { SymbolDay } from '../symbols/origin.ts';
import { sourceId } from '../symbols/sources.ts';
import { type BarRevision, type NewBar, readRevisions } from './bars.ts';
import { type PublishResult, publishBars } from './publish-bars.ts';
import { type BarRow, recordDays, writeRevisions } from './withdrawals.ts';

/** The source of prices that an operator entered by hand. */
const OPERATOR = 'operator';

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
   * Gives days the prices that they had before the operator's last withdrawal or correction. A day that the operator has
   * not changed, or that has changed since, stays as it is. Returns the days that were reverted.
   */
  revert(days: readonly SymbolDay[], { reason, recordedAt }: PriceCorrection): Promise<readonly SymbolDay[]> {
    return this.#engine.writePrices(async (tx) => {
      const revision = await nextRevision(tx, 'prices');
      const operator = await sourceId(tx, OPERATOR);
      const rows: BarRow[] = [];
      for (const { symbolId, day } of days) {
        const earlier = await beforeChange(tx, { symbolId, day }, operator);
        if (earlier) rows.push({ ...earlier, symbolId, day, recordedAt, reason });
      }
      await writeRevisions(this.#engine, tx, rows, revision);
      await recordDays(tx, this.#audit, 'bars.revert', rows, reason);
      return rows.map(({ symbolId, day }) => ({ symbolId, day }));
    });
  }
}

/** What a day was before the operator's change of it; undefined if its current revision is not the operator's. */
async function beforeChange(tx: Sql, { symbolId, day }: SymbolDay, operator: number) {
  const versions = await readRevisions(tx, symbolId, 'real', day, day);
  const current = versions.at(-1);
  if (!current || (current.withdrawn !== 'operator' && current.sourceId !== operator)) return undefined;
  // A withdrawal repeats the prices that it withdraws, and so does a revert: neither is an earlier state of its own.
  const isEarlier = (one: BarRevision) =>
    one.withdrawn !== 'operator' && (current.withdrawn !== false || !isSameBar(one, current));
  // A day without an earlier price had none: the operator's is withdrawn.
  return versions.findLast(isEarlier) ?? { ...current, withdrawn: 'source' as const };
}

function isSameBar(a: BarRevision, b: BarRevision): boolean {
  return a.sourceId === b.sourceId && sameOhlc(a, b);
}
