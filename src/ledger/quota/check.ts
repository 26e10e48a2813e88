import type { Engine } from '../engine/engine.ts';
import type { Row } from '../engine/rows.ts';

/** Invariants after every transaction, each checked over the whole ledger with one statement. */
const RULES: readonly { sql: string; message: (row: Row) => string }[] = [
  {
    sql: `SELECT p.account_id, p.period, p.granted AS told, coalesce(l.granted, 0) + p.folded AS found
          FROM quota_period p LEFT JOIN (
            SELECT account_id, period, sum(CASE WHEN open = 1 THEN granted ELSE spent END) AS granted
            FROM quota_lease GROUP BY account_id, period
          ) l ON l.account_id = p.account_id AND l.period = p.period
          WHERE p.granted <> coalesce(l.granted, 0) + p.folded`,
    message: (row) => `the period says ${row.told} granted, its leases add up to ${row.found}`,
  },
  {
    sql: `SELECT p.account_id, p.period, p.used AS told, coalesce(l.spent, 0) + p.folded AS found
          FROM quota_period p LEFT JOIN (
            SELECT account_id, period, sum(spent) AS spent FROM quota_lease GROUP BY account_id, period
          ) l ON l.account_id = p.account_id AND l.period = p.period
          WHERE p.used <> coalesce(l.spent, 0) + p.folded`,
    message: (row) => `the period says ${row.told} used, its leases add up to ${row.found}`,
  },
  {
    sql: `SELECT p.account_id, p.period, p.used AS told, coalesce(d.count, 0) AS found
          FROM quota_period p LEFT JOIN (
            SELECT account_id, period, sum(count) AS count FROM usage_day GROUP BY account_id, period
          ) d ON d.account_id = p.account_id AND d.period = p.period
          WHERE p.used <> coalesce(d.count, 0)`,
    message: (row) => `the period says ${row.told} used, its days add up to ${row.found}`,
  },
  {
    sql: `SELECT account_id, period, lease_id, granted AS told, spent AS found FROM quota_lease
          WHERE spent > granted OR spent < 0`,
    message: (row) => `lease ${row.lease_id} has ${row.told} granted and ${row.found} spent`,
  },
  {
    sql: `SELECT l.account_id, l.period, l.lease_id FROM quota_lease l LEFT JOIN quota_period p
            ON p.account_id = l.account_id AND p.period = l.period WHERE p.account_id IS NULL`,
    message: (row) => `lease ${row.lease_id} has no period`,
  },
];

/** Returns one line for each account and month that violates an invariant. */
export async function checkQuota(engine: Engine): Promise<string[]> {
  const wrong: string[] = [];
  for (const { sql, message } of RULES) {
    for (const row of await engine.read.unsafe(sql)) {
      wrong.push(`account ${row.account_id}, month ${row.period}: ${message(row)}`);
    }
  }
  return wrong;
}
