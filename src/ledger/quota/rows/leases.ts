import type { ColumnTypes, Engine } from '../../engine/engine.ts';
import { asFlag, asJson, asNumber, asText, rowReader, type Sql } from '../../engine/rows.ts';
import { LEASE_MS, type LeaseState, type SpentBy } from '../model.ts';
import { periodEnd } from '../period.ts';
import { totalOf } from '../rules.ts';
import { update, upsert } from './upsert.ts';

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
  syncedAt: asNumber,
});

/**
 * The columns of a lease `l` and its holder `h`. A lease ends with its holder. One of a program before schema 15 has no
 * holder row and ends by itself.
 */
export const LEASE_COLUMNS = LEASE.columnsOf('l').replace(
  'l.expires_at',
  'coalesce(h.expires_at, l.expires_at)',
);

/** The open leases of these accounts whose process is lost: it was released, or silent since before `silentSince`. */
export async function readLostLeases(
  engine: Engine,
  tx: Sql,
  accountIds: readonly string[],
  silentSince: number,
): Promise<LeaseState[]> {
  const rows = await engine.forRows(
    tx,
    { id: 'TEXT', silent_since: 'BIGINT' },
    [...new Set(accountIds)].map((id) => [id, silentSince]),
    (n) => `SELECT ${LEASE_COLUMNS} FROM ${n.table} CROSS JOIN quota_lease l
     LEFT JOIN quota_holder h ON h.replica = l.replica
     WHERE l.open = 1 AND l.account_id = ${n.cell('id')} AND (h.released = 1 OR l.expires_at < ${n.cell('silent_since')})`,
  );
  return rows.map((cells) => LEASE.readCells(cells));
}

const ALL_COLUMNS: ColumnTypes = {
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

/** Writes all columns. */
export async function writeLeases(engine: Engine, tx: Sql, leases: readonly LeaseState[]): Promise<void> {
  await upsert(
    engine,
    tx,
    { name: 'quota_lease', key: ['lease_id'], types: ALL_COLUMNS },
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

const COUNTERS: ColumnTypes = {
  lease_id: 'TEXT',
  granted: 'BIGINT',
  spent: 'BIGINT',
  spent_by: 'TEXT',
  seq: 'BIGINT',
  barrier_ack: 'BIGINT',
  synced_at: 'BIGINT',
};

/** Writes the counters of leases that were open and stay open. */
export function updateLeases(engine: Engine, tx: Sql, leases: readonly LeaseState[]): Promise<void> {
  return update(
    engine,
    tx,
    { name: 'quota_lease', key: ['lease_id'], types: COUNTERS },
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
