import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, type Row } from '../engine/rows.ts';
import { LEASE_MS } from './rules.ts';

/** A replica that holds units of accounts' quotas. */
export interface LeaseHolder {
  replica: string;
  /** Accounts that it serves. */
  accounts: number;
  /** Units that it holds and has not said to have spent. */
  units: number;
  /** For how long it has been silent, in seconds, by the ledger's time. */
  silentSeconds: number;
}

/** Every replica with an open lease, the freshest first. */
export async function readHolders(engine: Engine): Promise<LeaseHolder[]> {
  const now = await engine.now(engine.read);
  const rows = await engine.read`SELECT replica, count(DISTINCT account_id) AS accounts,
      sum(granted - spent) AS units, max(expires_at) AS expires_at
    FROM quota_lease WHERE open = 1 GROUP BY replica ORDER BY max(expires_at) DESC, replica`;
  return rows.map((row: Row) => ({
    replica: asText(row.replica),
    accounts: asNumber(row.accounts),
    units: asNumber(row.units),
    silentSeconds: Math.max(0, Math.floor((now - (asNumber(row.expires_at) - LEASE_MS)) / 1000)),
  }));
}
