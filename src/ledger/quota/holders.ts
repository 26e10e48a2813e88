import { MS_PER_DAY } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, onlyRow, optional, rowReader, type Sql } from '../engine/rows.ts';
import { LEASE_MS } from './model.ts';

/** A replica that has leased units of quotas. */
export interface LeaseHolder {
  replica: string;
  /** How many accounts it has leases of. */
  accounts: number;
  /** Leased units that it has not reported as spent. */
  units: number;
  /** How long ago it last contacted the ledger, by the ledger's time. */
  silentSeconds: number;
}

/** A process's right to spend from its leases. */
export interface SpendingRight {
  now: number;
  /** How long after `now` it lasts; 0 when its leases were released. */
  leaseMs: number;
}

/** The right to spend, and how many processes may lease units. */
export interface SharedRight extends SpendingRight {
  holders: number;
}

/** A row without open leases is deleted this long after its process ended: then no lease of its months is left. */
const KEPT_MS = 100 * MS_PER_DAY;

/** A message renews the right to spend when the last renewal is this old. */
const RENEW_AFTER_MS = 5_000;

const LIVE = rowReader({ live: asNumber, own: optional(asNumber) });

const HOLDER = rowReader({ replica: asText, accounts: asNumber, units: asNumber, expiresAt: asNumber });

/**
 * Extends a process's right to spend from its leases. A process that was silent for so long that its leases were released
 * never gets it back: it must take another name.
 */
async function renewHolder(tx: Sql, replica: string, now: number): Promise<SpendingRight> {
  const renewed =
    await tx`INSERT INTO quota_holder (replica, expires_at, released) VALUES (${replica}, ${now + LEASE_MS}, 0)
    ON CONFLICT (replica) DO UPDATE SET expires_at = excluded.expires_at WHERE quota_holder.released = 0
    RETURNING replica`;
  return { now, leaseMs: renewed.length > 0 ? LEASE_MS : 0 };
}

/**
 * The right to spend of a process that sends messages, and how many processes may lease units. Most messages find it renewed
 * a moment ago and write nothing.
 */
export async function renewIfDue(tx: Sql, replica: string, now: number): Promise<SharedRight> {
  const rows =
    await tx`SELECT count(*) AS live, max(CASE WHEN replica = ${replica} THEN expires_at END) AS own
    FROM quota_holder WHERE expires_at > ${now} AND released = 0`;
  const { live, own } = LIVE.read(onlyRow(rows));
  const leftMs = (own ?? now) - now;
  if (leftMs > LEASE_MS - RENEW_AFTER_MS && leftMs <= LEASE_MS)
    return { now, leaseMs: leftMs, holders: live };
  const right = await renewHolder(tx, replica, now);
  const joins = own === undefined && right.leaseMs > 0;
  return { ...right, holders: joins ? live + 1 : live };
}

/** Ends a process's right to spend. What it has not settled is held like the leases of a lost host. */
export async function endHolder(engine: Engine, replica: string): Promise<void> {
  await engine.write(async (tx) => {
    const now = await engine.now(tx);
    await tx`UPDATE quota_holder SET expires_at = ${now} WHERE replica = ${replica}`;
  });
}

/** Marks the processes that have been silent since before `silentSince`, and forgets those that ended long ago. */
export async function releaseHolders(engine: Engine, silentSince: number): Promise<void> {
  const { read } = engine;
  const [lost] =
    await read`SELECT replica FROM quota_holder WHERE released = 0 AND expires_at < ${silentSince} LIMIT 1`;
  if (!lost) return;
  await engine.write(async (tx) => {
    await tx`UPDATE quota_holder SET released = 1 WHERE released = 0 AND expires_at < ${silentSince}`;
    await tx`DELETE FROM quota_signal WHERE replica IN (SELECT replica FROM quota_holder WHERE released = 1)`;
    await tx`DELETE FROM quota_holder WHERE expires_at < ${silentSince - KEPT_MS} AND replica NOT IN (
      SELECT replica FROM quota_lease WHERE open = 1)`;
  });
}

/** Every replica with an open lease, the most recently heard first. Nobody holds those of a restored ledger any more. */
export async function readHolders(engine: Engine): Promise<LeaseHolder[]> {
  const now = await engine.now(engine.read);
  // Grouped in two steps: count(DISTINCT …) makes PostgreSQL sort all open leases by account, which takes most of the time.
  const rows =
    await engine.read`SELECT l.replica, l.accounts, l.units, coalesce(h.expires_at, l.expires_at) AS expires_at
    FROM (SELECT replica, count(*) AS accounts, sum(units) AS units, max(expires_at) AS expires_at FROM (
        SELECT replica, account_id, sum(granted - spent) AS units, max(expires_at) AS expires_at FROM quota_lease
        WHERE open = 1 GROUP BY replica, account_id) a
      GROUP BY replica) l
    LEFT JOIN quota_holder h ON h.replica = l.replica WHERE coalesce(h.expires_at, l.expires_at) > 0
    ORDER BY 4 DESC, l.replica`;
  return rows.map(HOLDER.read).map(({ expiresAt, ...holder }) => ({
    ...holder,
    silentSeconds: Math.max(0, Math.floor((now - (expiresAt - LEASE_MS)) / 1000)),
  }));
}
