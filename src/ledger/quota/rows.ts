import type { Engine } from '../engine/engine.ts';
import { asFlag, asJson, asNumber, asText, rowReader, type Sql } from '../engine/rows.ts';
import { insertRows, listOf } from '../engine/statements.ts';
import type { LeaseState, PeriodState, SpentBy } from './model.ts';
import type { Period } from './period.ts';
import { totalOf } from './rules.ts';

// Periods and leases are read and written with few statements for many accounts.

const PERIOD = rowReader<PeriodState>({
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

export const LEASE = rowReader<LeaseState>({
  leaseId: asText,
  accountId: asText,
  period: asNumber,
  replica: asText,
  granted: asNumber,
  spentBy: asJson<SpentBy>(),
  seq: asNumber,
  barrierAck: asNumber,
  open: asFlag,
  settled: asFlag,
  expiresAt: asNumber,
});

/** The key of an account's month in a map. */
export function keyOf(of: { accountId: string; period: Period }): string {
  return `${of.period} ${of.accountId}`;
}

/**
 * Locks the periods and creates missing ones. Rows are locked in sorted order, so transactions that share accounts cannot
 * deadlock. What depends on a period must be read by a later statement: this one may have waited for the lock, and its
 * snapshot is from before the wait.
 */
export async function lockPeriods(
  engine: Engine,
  tx: Sql,
  of: readonly { accountId: string; period: Period }[],
): Promise<Map<string, PeriodState>> {
  const wanted = [...new Map(of.map((one) => [keyOf(one), one])).values()].sort(byAccount);
  const values = wanted.map((_, i) => {
    const [a, p] = [engine.placeholder(2 * i + 1), engine.placeholder(2 * i + 2)];
    return `(${a}, ${p}, 0, 0, 0, 0, 0, 0)`;
  });
  const lock = tx.unsafe(
    `INSERT INTO quota_period
       (account_id, period, granted, used, barrier, recall_at, signalled_at, notified) VALUES ${values.join(',')}
     ON CONFLICT (account_id, period) DO UPDATE SET granted = quota_period.granted RETURNING ${PERIOD.columns}`,
    wanted.flatMap((one) => [one.accountId, one.period]),
  );
  const rows = await lock.execute(); // sent now, so that later statements run after it
  return new Map(rows.map(PERIOD.read).map((period) => [keyOf(period), period]));
}

export async function writePeriods(engine: Engine, tx: Sql, periods: readonly PeriodState[]): Promise<void> {
  await insertRows(
    engine,
    tx,
    'quota_period (account_id, period, granted, used, barrier, recall_at, signalled_at, notified)',
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
    `ON CONFLICT (account_id, period) DO UPDATE SET granted = excluded.granted, used = excluded.used,
       barrier = excluded.barrier, recall_at = excluded.recall_at, signalled_at = excluded.signalled_at,
       notified = excluded.notified`,
  );
}

export async function readLeases(engine: Engine, tx: Sql, ids: readonly string[]): Promise<LeaseState[]> {
  const rows = await tx.unsafe(
    `SELECT ${LEASE.columns} FROM quota_lease WHERE lease_id IN (${listOf(engine, ids.length)})`,
    [...ids],
  );
  return rows.map(LEASE.read);
}

export async function writeLeases(engine: Engine, tx: Sql, leases: readonly LeaseState[]): Promise<void> {
  await insertRows(
    engine,
    tx,
    `quota_lease
       (lease_id, account_id, period, replica, granted, spent, spent_by, seq, barrier_ack, open, settled, expires_at)`,
    leases.map((l) => [
      l.leaseId,
      l.accountId,
      l.period,
      l.replica,
      l.granted,
      totalOf(l.spentBy),
      JSON.stringify(l.spentBy),
      l.seq,
      l.barrierAck,
      l.open ? 1 : 0,
      l.settled ? 1 : 0,
      l.expiresAt,
    ]),
    `ON CONFLICT (lease_id) DO UPDATE SET granted = excluded.granted, spent = excluded.spent,
       spent_by = excluded.spent_by, seq = excluded.seq, barrier_ack = excluded.barrier_ack, open = excluded.open,
       settled = excluded.settled, expires_at = excluded.expires_at`,
  );
}

/** The quota of each account by its current plan. Deleted accounts are absent. */
export async function readQuotas(
  engine: Engine,
  tx: Sql,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await tx.unsafe(
    `SELECT account.id, plan.quota FROM account JOIN plan ON plan.name = account.plan
     WHERE account.id IN (${listOf(engine, ids.length)})`,
    [...ids],
  );
  return new Map(rows.map((row) => [asText(row.id), asNumber(row.quota)]));
}

export async function countOpenLeases(
  engine: Engine,
  tx: Sql,
  accountIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await tx.unsafe(
    `SELECT account_id, period, count(*) AS n FROM quota_lease
     WHERE open = 1 AND account_id IN (${listOf(engine, accountIds.length)}) GROUP BY account_id, period`,
    [...accountIds],
  );
  return new Map(
    rows.map((row) => [
      keyOf({ accountId: asText(row.account_id), period: asNumber(row.period) }),
      asNumber(row.n),
    ]),
  );
}

function byAccount(
  a: { accountId: string; period: Period },
  b: { accountId: string; period: Period },
): number {
  if (a.accountId !== b.accountId) return a.accountId < b.accountId ? -1 : 1;
  return a.period - b.period;
}
