import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, rowReader } from '../engine/rows.ts';
import { LEASE_MS } from './model.ts';

/** A replica that has leased units of quotas. */
export interface LeaseHolder {
  replica: string;
  /** How many accounts it has leases of. */
  accounts: number;
  /** Leased units that it has not reported as spent. */
  units: number;
  /** How long ago it last renewed a lease, by the ledger's time. */
  silentSeconds: number;
}

const HOLDER = rowReader({ replica: asText, accounts: asNumber, units: asNumber, expiresAt: asNumber });

/** Every replica with an open lease, the most recently heard first. */
export async function readHolders(engine: Engine): Promise<LeaseHolder[]> {
  const now = await engine.now(engine.read);
  const rows = await engine.read`SELECT replica, count(DISTINCT account_id) AS accounts,
      sum(granted - spent) AS units, max(expires_at) AS expires_at
    FROM quota_lease WHERE open = 1 GROUP BY replica ORDER BY max(expires_at) DESC, replica`;
  return rows.map(HOLDER.read).map(({ expiresAt, ...holder }) => ({
    ...holder,
    silentSeconds: Math.max(0, Math.floor((now - (expiresAt - LEASE_MS)) / 1000)),
  }));
}
