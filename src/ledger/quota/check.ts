import type { Engine } from '../engine/engine.ts';
import { asText, type Row } from '../engine/rows.ts';

/** Invariants after every transaction, each checked over the whole ledger with one statement. Leases are few: old ones are folded. */
const RULES: readonly { sql: string; message: (row: Row) => string }[] = [
  {
    sql: `SELECT p.account_id, p.period, p.granted AS recorded, coalesce(l.granted, 0) + p.folded AS found
          FROM quota_period p LEFT JOIN (
            SELECT account_id, period, sum(CASE WHEN open = 1 THEN granted ELSE spent END) AS granted
            FROM quota_lease GROUP BY account_id, period
          ) l ON l.account_id = p.account_id AND l.period = p.period
          WHERE p.granted <> coalesce(l.granted, 0) + p.folded`,
    message: (row) => `the period records ${row.recorded} granted, its leases add up to ${row.found}`,
  },
  {
    sql: `SELECT p.account_id, p.period, p.used AS recorded, coalesce(l.spent, 0) + p.folded AS found
          FROM quota_period p LEFT JOIN (
            SELECT account_id, period, sum(spent) AS spent FROM quota_lease GROUP BY account_id, period
          ) l ON l.account_id = p.account_id AND l.period = p.period
          WHERE p.used <> coalesce(l.spent, 0) + p.folded`,
    message: (row) => `the period records ${row.recorded} used, its leases add up to ${row.found}`,
  },
  {
    sql: `SELECT account_id, period, lease_id, granted AS recorded, spent AS found FROM quota_lease
          WHERE spent > granted OR spent < 0`,
    message: (row) => `lease ${row.lease_id} has ${row.recorded} granted and ${row.found} spent`,
  },
  {
    sql: `SELECT l.account_id, l.period, l.lease_id FROM quota_lease l LEFT JOIN quota_period p
            ON p.account_id = l.account_id AND p.period = l.period WHERE p.account_id IS NULL`,
    message: (row) => `lease ${row.lease_id} has no period`,
  },
];

/** Together with their days, some hundred thousand rows. */
const PERIODS_PER_STATEMENT = 10_000;

/** Returns one line for each account and month that violates an invariant. */
export async function checkQuota(engine: Engine): Promise<string[]> {
  const wrong: string[] = [];
  const report = (row: Row, message: string) =>
    wrong.push(`account ${row.account_id}, month ${row.period}: ${message}`);
  for (const { sql, message } of RULES) {
    for (const row of await engine.read.unsafe(sql)) report(row, message(row));
  }
  for await (const row of periodsUnlikeTheirDays(engine)) {
    report(row, `the period records ${row.recorded} used, its days add up to ${row.found}`);
  }
  return wrong;
}

/** Some accounts at a time: the days of all accounts take longer to read than a statement may on PostgreSQL. */
async function* periodsUnlikeTheirDays({ read, placeholder: p }: Engine): AsyncGenerator<Row> {
  for (let after = ''; ; ) {
    const [last] = await read`SELECT max(account_id) AS id FROM (SELECT account_id FROM quota_period
      WHERE account_id > ${after} ORDER BY account_id LIMIT ${PERIODS_PER_STATEMENT}) page`;
    if (last?.id == null) return;
    const upTo = asText(last.id);
    yield* await read.unsafe(
      `SELECT p.account_id, p.period, p.used AS recorded, coalesce(d.count, 0) AS found
       FROM quota_period p LEFT JOIN (
         SELECT account_id, period, sum(count) AS count FROM usage_day
         WHERE account_id > ${p(1)} AND account_id <= ${p(2)} GROUP BY account_id, period
       ) d ON d.account_id = p.account_id AND d.period = p.period
       WHERE p.account_id > ${p(3)} AND p.account_id <= ${p(4)} AND p.used <> coalesce(d.count, 0)`,
      [after, upTo, after, upTo],
    );
    after = upTo;
  }
}
