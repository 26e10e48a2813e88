import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, onlyRow, optional, rowReader } from '../engine/rows.ts';
import { LEASE_MS } from './model.ts';
import type { Period } from './period.ts';

/** What an account has used in a month, and how current that is. */
export interface Usage {
  used: number;
  quota: number;
  /** Open leases that have not yet reported what they spent before the barrier; 0 means that `used` is exact. */
  behind: number;
  /** The ledger's time at which `used` was right. */
  asOf: number;
}

/** What an account has used in a month, without one lease. */
export interface UsageWithoutLease {
  usedBeside: number;
  /** How many other leases are open. */
  otherLeases: number;
  quota: number;
  /** The ledger's time at which it was right. */
  asOf: number;
}

/** What an account has used in a month, as far as it is reported, and its quota. */
export interface ReportedUsage {
  used: number;
  quota: number;
}

export interface UsageDay {
  day: number;
  endpoint: string;
  count: number;
}

const USAGE = rowReader({
  used: asNumber,
  behind: asNumber,
  oldest: optional(asNumber),
  quota: optional(asNumber),
});

const USAGE_BESIDE = rowReader({
  used: optional(asNumber),
  spent: optional(asNumber),
  others: asNumber,
  quota: optional(asNumber),
});

const USAGE_DAY = rowReader<UsageDay>({ day: asNumber, endpoint: asText, count: asNumber });

/** Reads the usage, and which leases are behind the given barrier, or the newest one. */
export async function readUsage(
  engine: Engine,
  accountId: string,
  period: Period,
  barrier: number | undefined,
): Promise<Usage> {
  const { read } = engine;
  const now = await engine.now(read);
  // One statement, so that the total and the leases that are behind are consistent.
  const rows = await read`SELECT
      coalesce(max(p.used), 0) AS used, count(l.lease_id) AS behind,
      min(CASE WHEN l.synced_at = 0 THEN l.expires_at - ${LEASE_MS} ELSE l.synced_at END) AS oldest,
      (SELECT plan.quota FROM account JOIN plan ON plan.name = account.plan WHERE account.id = ${accountId}) AS quota
    FROM quota_period p LEFT JOIN quota_lease l
      ON l.open = 1 AND l.account_id = p.account_id AND l.period = p.period
      AND l.barrier_ack < coalesce(CAST(${barrier ?? null} AS BIGINT), p.barrier)
    WHERE p.account_id = ${accountId} AND p.period = ${period}`;
  const { used, behind, oldest, quota } = USAGE.read(onlyRow(rows));
  return { used, quota: quota ?? 0, behind, asOf: oldest ?? now };
}

/** Reads the usage of many accounts, by id. Unknown accounts are absent from the result. */
export async function readUsages(
  engine: Engine,
  accountIds: readonly string[],
  period: Period,
): Promise<Map<string, ReportedUsage>> {
  const rows = await engine.forRows(
    engine.read,
    { id: 'TEXT', period: 'BIGINT' },
    accountIds.map((id) => [id, period]),
    (n) => `SELECT a.id, coalesce(p.used, 0), plan.quota FROM ${n.table} CROSS JOIN account a
     JOIN plan ON plan.name = a.plan
     LEFT JOIN quota_period p ON p.account_id = a.id AND p.period = ${n.cell('period')} WHERE a.id = ${n.cell('id')}`,
  );
  return new Map(
    rows.map(([id, used, quota]) => [asText(id), { used: asNumber(used), quota: asNumber(quota) }]),
  );
}

/**
 * Reads the usage without one lease, and how many other leases are open. With none, adding what that lease has spent
 * gives the exact total without asking other replicas.
 */
export async function readUsageWithoutLease(
  engine: Engine,
  accountId: string,
  period: Period,
  leaseId: string,
): Promise<UsageWithoutLease> {
  const { read } = engine;
  const now = await engine.now(read);
  const rows = await read`SELECT
      (SELECT used FROM quota_period WHERE account_id = ${accountId} AND period = ${period}) AS used,
      (SELECT spent FROM quota_lease WHERE lease_id = ${leaseId}) AS spent,
      (SELECT count(*) FROM quota_lease
        WHERE open = 1 AND account_id = ${accountId} AND period = ${period} AND lease_id <> ${leaseId}) AS others,
      (SELECT plan.quota FROM account JOIN plan ON plan.name = account.plan WHERE account.id = ${accountId}) AS quota`;
  const { used = 0, spent = 0, others, quota = 0 } = USAGE_BESIDE.read(onlyRow(rows));
  return { usedBeside: used - spent, otherLeases: others, quota, asOf: now };
}

export async function readUsageByDay(
  { read }: Engine,
  accountId: string,
  fromDay: number,
  toDay: number,
): Promise<UsageDay[]> {
  const rows = await read`SELECT day, endpoint, sum(count) AS count FROM usage_day
    WHERE account_id = ${accountId} AND day >= ${fromDay} AND day <= ${toDay}
    GROUP BY day, endpoint ORDER BY day, endpoint`;
  return rows.map(USAGE_DAY.read);
}
