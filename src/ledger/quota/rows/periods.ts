import type { ColumnTypes, Engine } from '../../engine/engine.ts';
import { asNumber, asText, rowReader, type Sql } from '../../engine/rows.ts';
import type { PeriodState } from '../model.ts';
import type { Period } from '../period.ts';
import { update, upsert } from './upsert.ts';

/** An account's month. */
export interface AccountPeriod {
  accountId: string;
  period: Period;
}

/** The key of an account's month in a map. */
export function keyOf(of: AccountPeriod): string {
  return `${of.period} ${of.accountId}`;
}

const KEY: ColumnTypes = { account_id: 'TEXT', period: 'BIGINT' };

/** All columns of a period. */
export const PERIOD = rowReader<PeriodState>({
  accountId: asText,
  period: asNumber,
  granted: asNumber,
  used: asNumber,
  folded: asNumber,
  barrier: asNumber,
  recallAt: asNumber,
  signalledAt: asNumber,
  notified: asNumber,
});

/**
 * Locks the periods and creates missing ones. Rows are locked in sorted order, so transactions that share accounts cannot
 * deadlock. What depends on a period must be read by a later statement: this one may have waited for the lock, and its
 * snapshot is from before the wait.
 */
export async function lockPeriods(
  engine: Engine,
  tx: Sql,
  of: readonly AccountPeriod[],
): Promise<Map<string, PeriodState>> {
  const rows = await engine.forRows(
    tx,
    KEY,
    sortedKeys(of),
    (n) => `INSERT INTO quota_period AS p
       (account_id, period, granted, used, barrier, recall_at, signalled_at, notified)
     SELECT ${n.cell('account_id')}, ${n.cell('period')}, 0, 0, 0, 0, 0, 0 ${n.from} WHERE true
     ON CONFLICT (account_id, period) DO UPDATE SET granted = p.granted
     RETURNING ${PERIOD.columns}`,
  );
  return new Map(rows.map((cells) => PERIOD.readCells(cells)).map((period) => [keyOf(period), period]));
}

/**
 * Locks the periods, and creates missing ones of accounts that exist, for a statement that reads them. Unlike `lockPeriods`
 * it writes nothing to rows that exist. Sends two statements and does not wait for them.
 */
export async function lockForReading(engine: Engine, tx: Sql, of: readonly AccountPeriod[]): Promise<void> {
  const keys = sortedKeys(of);
  await Promise.all([
    engine.forRows(
      tx,
      KEY,
      keys,
      (n) => `INSERT INTO quota_period
         (account_id, period, granted, used, barrier, recall_at, signalled_at, notified)
       SELECT ${n.cell('account_id')}, ${n.cell('period')}, 0, 0, 0, 0, 0, 0 ${n.from}
       WHERE EXISTS (SELECT 1 FROM account WHERE account.id = ${n.cell('account_id')})
       ON CONFLICT (account_id, period) DO NOTHING`,
    ),
    engine.forRows(
      tx,
      { ...KEY, position: 'BIGINT' },
      keys.map((key, position) => [...key, position]),
      (n) => `SELECT p.period FROM ${n.table}
       JOIN quota_period p ON p.account_id = ${n.cell('account_id')} AND p.period = ${n.cell('period')}
       ORDER BY ${n.cell('position')} FOR UPDATE OF p`,
    ),
  ]);
}

const ALL_COLUMNS: ColumnTypes = {
  ...KEY,
  granted: 'BIGINT',
  used: 'BIGINT',
  barrier: 'BIGINT',
  recall_at: 'BIGINT',
  signalled_at: 'BIGINT',
  notified: 'BIGINT',
};

/** Writes all columns. */
export async function writePeriods(engine: Engine, tx: Sql, periods: readonly PeriodState[]): Promise<void> {
  await upsert(
    engine,
    tx,
    { name: 'quota_period', key: Object.keys(KEY), types: ALL_COLUMNS },
    periods.map((p) => [
      p.accountId,
      p.period,
      p.granted,
      p.used,
      p.barrier,
      p.recallAt,
      p.signalledAt,
      p.notified,
    ]),
  );
}

const COUNTERS: ColumnTypes = { ...KEY, granted: 'BIGINT', used: 'BIGINT', notified: 'BIGINT' };

/**
 * Writes the counters of existing periods. SQLite rewrites an index entry whenever a statement sets its column, even to the
 * same value, so this one leaves out what is indexed: most syncs only report counts.
 */
export function updatePeriods(engine: Engine, tx: Sql, periods: readonly PeriodState[]): Promise<void> {
  return update(
    engine,
    tx,
    { name: 'quota_period', key: Object.keys(KEY), types: COUNTERS },
    periods.map((p) => [p.accountId, p.period, p.granted, p.used, p.notified]),
  );
}

/** Each once. Reports are sorted already. */
function sortedKeys(of: readonly AccountPeriod[]): [string, Period][] {
  if (of.every((one, i) => i === 0 || byAccount(of[i - 1]!, one) < 0)) return of.map(pairOf);
  const distinct = new Map(of.map((one) => [keyOf(one), one]));
  return [...distinct.values()].sort(byAccount).map(pairOf);
}

function pairOf({ accountId, period }: AccountPeriod): [string, Period] {
  return [accountId, period];
}

function byAccount(a: AccountPeriod, b: AccountPeriod): number {
  if (a.accountId !== b.accountId) return a.accountId < b.accountId ? -1 : 1;
  return a.period - b.period;
}
