import type { Engine } from '../engine/engine.ts';
import { asFlag, asJson, asNumber, asText, type Cell, rowReader, type Sql } from '../engine/rows.ts';
import { LEASE_MS, type LeaseState, type PeriodState, type SpentBy } from './model.ts';
import { type Period, periodEnd } from './period.ts';
import { totalOf } from './rules.ts';

// Periods and leases of many accounts are read and written with one statement each, whose text does not depend on their number.

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

const LEASE = rowReader<LeaseState>({
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
  syncedAt: asNumber,
});

/** A lease ends with its holder. One of a program before schema 15 has no holder row and ends by itself. */
const LEASE_COLUMNS = LEASE.columnsOf('l').replace(
  'l.expires_at',
  'coalesce(h.expires_at, l.expires_at) AS expires_at',
);

/** An account's month. */
export interface AccountPeriod {
  accountId: string;
  period: Period;
}

/** The key of an account's month in a map. */
export function keyOf(of: AccountPeriod): string {
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
  of: readonly AccountPeriod[],
): Promise<Map<string, PeriodState>> {
  const wanted = [...new Map(of.map((one) => [keyOf(one), one])).values()].sort(byAccount);
  const rows = engine.jsonRows(engine.placeholder(1), { account_id: 'TEXT', period: 'BIGINT' });
  const lock = tx.unsafe(
    `INSERT INTO quota_period
       (account_id, period, granted, used, barrier, recall_at, signalled_at, notified)
     SELECT account_id, period, 0, 0, 0, 0, 0, 0 FROM ${rows} AS n WHERE true
     ON CONFLICT (account_id, period) DO UPDATE SET granted = quota_period.granted RETURNING ${PERIOD.columns}`,
    [JSON.stringify(wanted.map(({ accountId, period }) => [accountId, period]))],
  );
  const locked = await lock.execute(); // sent now, so that later statements run after it
  return new Map(locked.map(PERIOD.read).map((period) => [keyOf(period), period]));
}

export async function writePeriods(engine: Engine, tx: Sql, periods: readonly PeriodState[]): Promise<void> {
  await upsert(
    engine,
    tx,
    'quota_period',
    ['account_id', 'period'],
    PERIOD_TYPES,
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

export async function readLeases(engine: Engine, tx: Sql, ids: readonly string[]): Promise<LeaseState[]> {
  const wanted = engine.jsonRows(engine.placeholder(1), { id: 'TEXT' });
  const rows = await tx.unsafe(
    `SELECT ${LEASE_COLUMNS} FROM ${wanted} AS n CROSS JOIN quota_lease l
     LEFT JOIN quota_holder h ON h.replica = l.replica WHERE l.lease_id = n.id`,
    [JSON.stringify(ids.map((id) => [id]))],
  );
  return rows.map(LEASE.read);
}

/** The open leases of these accounts whose process is lost: it was released, or silent since before `silentSince`. */
export async function readLostLeases(
  engine: Engine,
  tx: Sql,
  accountIds: readonly string[],
  silentSince: number,
): Promise<LeaseState[]> {
  const wanted = engine.jsonRows(engine.placeholder(1), { id: 'TEXT' });
  const rows = await tx.unsafe(
    `SELECT ${LEASE_COLUMNS} FROM ${wanted} AS n CROSS JOIN quota_lease l
     LEFT JOIN quota_holder h ON h.replica = l.replica
     WHERE l.open = 1 AND l.account_id = n.id AND (h.released = 1 OR l.expires_at < ${engine.placeholder(2)})`,
    [JSON.stringify([...new Set(accountIds)].map((id) => [id])), silentSince],
  );
  return rows.map(LEASE.read);
}

export async function writeLeases(engine: Engine, tx: Sql, leases: readonly LeaseState[]): Promise<void> {
  await upsert(
    engine,
    tx,
    'quota_lease',
    ['lease_id'],
    LEASE_TYPES,
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
      // While it is open, its holder's row decides; programs before schema 15 must not take it for lost.
      l.open ? periodEnd(l.period) + LEASE_MS : l.expiresAt,
      l.syncedAt,
    ]),
  );
}

/** The quota of each account by its current plan. Deleted accounts are absent. */
export async function readQuotas(
  engine: Engine,
  tx: Sql,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const wanted = engine.jsonRows(engine.placeholder(1), { id: 'TEXT' });
  const rows = await tx.unsafe(
    `SELECT account.id, plan.quota FROM ${wanted} AS n CROSS JOIN account
     JOIN plan ON plan.name = account.plan WHERE account.id = n.id`,
    [JSON.stringify(ids.map((id) => [id]))],
  );
  return new Map(rows.map((row) => [asText(row.id), asNumber(row.quota)]));
}

/**
 * Writes the counters of existing periods. SQLite rewrites an index entry whenever a statement sets its column, even to the
 * same value, so this one leaves out what is indexed: most syncs only report counts.
 */
export function updatePeriods(engine: Engine, tx: Sql, periods: readonly PeriodState[]): Promise<void> {
  return update(
    engine,
    tx,
    'quota_period',
    ['account_id', 'period'],
    { account_id: 'TEXT', period: 'BIGINT', granted: 'BIGINT', used: 'BIGINT', notified: 'BIGINT' },
    periods.map((p) => [p.accountId, p.period, p.granted, p.used, p.notified]),
  );
}

/** Writes the counters of leases that were open and stay open. */
export function updateLeases(engine: Engine, tx: Sql, leases: readonly LeaseState[]): Promise<void> {
  return update(
    engine,
    tx,
    'quota_lease',
    ['lease_id'],
    {
      lease_id: 'TEXT',
      granted: 'BIGINT',
      spent: 'BIGINT',
      spent_by: 'TEXT',
      seq: 'BIGINT',
      barrier_ack: 'BIGINT',
      synced_at: 'BIGINT',
    },
    leases.map((l) => [
      l.leaseId,
      l.granted,
      totalOf(l.spentBy),
      JSON.stringify(l.spentBy),
      l.seq,
      l.barrierAck,
      l.syncedAt,
    ]),
  );
}

type ColumnTypes = Readonly<Record<string, 'TEXT' | 'BIGINT'>>;

const PERIOD_TYPES: ColumnTypes = {
  account_id: 'TEXT',
  period: 'BIGINT',
  granted: 'BIGINT',
  used: 'BIGINT',
  barrier: 'BIGINT',
  recall_at: 'BIGINT',
  signalled_at: 'BIGINT',
  notified: 'BIGINT',
};

const LEASE_TYPES: ColumnTypes = {
  lease_id: 'TEXT',
  account_id: 'TEXT',
  period: 'BIGINT',
  replica: 'TEXT',
  granted: 'BIGINT',
  spent: 'BIGINT',
  spent_by: 'TEXT',
  seq: 'BIGINT',
  barrier_ack: 'BIGINT',
  open: 'BIGINT',
  settled: 'BIGINT',
  expires_at: 'BIGINT',
  synced_at: 'BIGINT',
};

/** Inserts rows, or overwrites those with the same key. */
async function upsert(
  engine: Engine,
  tx: Sql,
  table: string,
  key: readonly string[],
  types: ColumnTypes,
  rows: readonly (readonly Cell[])[],
): Promise<void> {
  if (rows.length === 0) return;
  const columns = Object.keys(types);
  const changes = columns.filter((name) => !key.includes(name)).map((name) => `${name} = excluded.${name}`);
  await tx.unsafe(
    `INSERT INTO ${table} (${columns.join(', ')})
     SELECT ${columns.join(', ')} FROM ${engine.jsonRows(engine.placeholder(1), types)} AS n WHERE true
     ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${changes.join(', ')}`,
    [JSON.stringify(rows)],
  );
}

/** Updates rows that exist. */
async function update(
  engine: Engine,
  tx: Sql,
  table: string,
  key: readonly string[],
  types: ColumnTypes,
  rows: readonly (readonly Cell[])[],
): Promise<void> {
  if (rows.length === 0) return;
  const changes = Object.keys(types).filter((name) => !key.includes(name));
  await tx.unsafe(
    `UPDATE ${table} SET ${changes.map((name) => `${name} = n.${name}`).join(', ')}
     FROM ${engine.jsonRows(engine.placeholder(1), types)} AS n
     WHERE ${key.map((name) => `${table}.${name} = n.${name}`).join(' AND ')}`,
    [JSON.stringify(rows)],
  );
}

function byAccount(a: AccountPeriod, b: AccountPeriod): number {
  if (a.accountId !== b.accountId) return a.accountId < b.accountId ? -1 : 1;
  return a.period - b.period;
}
