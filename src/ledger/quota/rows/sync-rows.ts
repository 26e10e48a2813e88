import type { Engine } from '../../engine/engine.ts';
import { asNumber, type Cell, type Sql } from '../../engine/rows.ts';
import type { LeaseState, PeriodState, SyncRequest } from '../model.ts';
import { LEASE, LEASE_COLUMNS } from './leases.ts';
import { keyOf, lockForReading, PERIOD } from './periods.ts';

/** What the messages of one transaction are about, as the ledger has it. */
export interface SyncRows {
  /** By account and month. A missing period is new, without a row. */
  periods: Map<string, PeriodState>;
  /** By id. */
  leases: Map<string, LeaseState>;
  /** By account: the quota of its current plan. An account that was deleted has none. */
  quotas: Map<string, number>;
}

const PERIOD_AT = 2;
const LEASE_AT = PERIOD_AT + PERIOD.width;

/**
 * Locks and reads all of it in one round trip. The lock comes first: another holder may change the period or the lease while
 * this transaction waits for it.
 */
export async function readSyncRows(
  engine: Engine,
  tx: Sql,
  requests: readonly SyncRequest[],
): Promise<SyncRows> {
  const locked = engine.writesAlone ? undefined : lockForReading(engine, tx, requests);
  const reading = engine.forRows(
    tx,
    { account_id: 'TEXT', period: 'BIGINT', lease_id: 'TEXT', position: 'BIGINT' },
    requests.map(({ accountId, period, leaseId }, position) => [accountId, period, leaseId, position]),
    (
      n,
    ) => `SELECT ${n.cell('position')}, plan.quota, ${PERIOD.columnsOf('p')}, ${LEASE_COLUMNS} FROM ${n.table}
     LEFT JOIN quota_period p ON p.account_id = ${n.cell('account_id')} AND p.period = ${n.cell('period')}
     LEFT JOIN account ON account.id = ${n.cell('account_id')} LEFT JOIN plan ON plan.name = account.plan
     LEFT JOIN quota_lease l ON l.lease_id = ${n.cell('lease_id')} LEFT JOIN quota_holder h ON h.replica = l.replica`,
  );
  await locked;
  const rows: SyncRows = { periods: new Map(), leases: new Map(), quotas: new Map() };
  for (const cells of await reading) addTo(rows, requests[asNumber(cells[0])]!, cells);
  return rows;
}

/** A row that a LEFT JOIN did not find has only nulls. */
function addTo({ periods, leases, quotas }: SyncRows, request: SyncRequest, cells: readonly Cell[]): void {
  if (cells[1] !== null) quotas.set(request.accountId, asNumber(cells[1]!));
  if (cells[PERIOD_AT] !== null) periods.set(keyOf(request), PERIOD.readCells(cells, PERIOD_AT));
  if (cells[LEASE_AT] !== null) leases.set(request.leaseId, LEASE.readCells(cells, LEASE_AT));
}

/** A period without a row. */
export function newPeriod({ accountId, period }: SyncRequest): PeriodState {
  const counters = { granted: 0, used: 0, folded: 0, barrier: 0, recallAt: 0, signalledAt: 0, notified: 0 };
  return { accountId, period, ...counters };
}
