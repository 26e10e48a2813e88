import { MS_PER_DAY } from '../../market/day.ts';
import { BUILT_IN_PLANS } from '../accounts/built-in-plans.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, onlyRow, type Row, type Sql } from '../engine/rows.ts';
import { periodOf } from '../quota/period.ts';

/** A count with examples. */
export interface CountWithExamples {
  count: number;
  /** The first few. */
  names: readonly string[];
}

export interface AccountFacts {
  accounts: number;
  /** Keys that are valid now. */
  workingKeys: number;
  /** Active accounts whose keys have all expired or been revoked. */
  withoutKey: CountWithExamples;
  /** Keys that expire soon. */
  expiring: CountWithExamples;
  /** Accounts that have used up their quota of this month. */
  overQuota: CountWithExamples;
  /** Custom plans without accounts. */
  plansUnused: CountWithExamples;
  plans: readonly string[];
  /** Quota events that could not be delivered to the webhook after several attempts. */
  unsentEvents: number;
}

const NAMES_MAX = 5;
/** Long enough ahead to issue another one. */
const EXPIRES_SOON_MS = 14 * MS_PER_DAY;
const TRIES_MANY = 3;

/** Counts what an operator should act on. A fixed number of statements for any number of accounts. */
export async function readAccountFacts({ read }: Engine, now: number): Promise<AccountFacts> {
  const row = onlyRow(
    await read`SELECT
    (SELECT count(*) FROM account) AS accounts,
    (SELECT count(*) FROM api_key k JOIN account a ON a.id = k.account_id WHERE a.status = 'active'
      AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${now})) AS working_keys,
    (SELECT count(*) FROM quota_event WHERE sent_at IS NULL AND attempts >= ${TRIES_MANY}) AS unsent`,
  );
  const builtIn = new Set(BUILT_IN_PLANS.map(({ name }) => name));
  const unused = await read`SELECT p.name FROM plan p
    WHERE NOT EXISTS (SELECT 1 FROM account a WHERE a.plan = p.name) ORDER BY p.name`;
  const own = unused.map(({ name }) => asText(name)).filter((name) => !builtIn.has(name));
  return {
    accounts: asNumber(row.accounts),
    workingKeys: asNumber(row.working_keys),
    withoutKey: await accountsWithoutKey(read, now),
    expiring: some(
      await read`SELECT id AS name, count(*) OVER () AS n FROM api_key
      WHERE revoked_at IS NULL AND expires_at > ${now} AND expires_at <= ${now + EXPIRES_SOON_MS}
      ORDER BY expires_at LIMIT ${NAMES_MAX}`,
    ),
    overQuota: some(
      await read`SELECT a.id AS name, count(*) OVER () AS n FROM quota_period q
      JOIN account a ON a.id = q.account_id JOIN plan p ON p.name = a.plan
      WHERE q.period = ${periodOf(now)} AND q.used >= p.quota AND a.status = 'active'
      ORDER BY a.id LIMIT ${NAMES_MAX}`,
    ),
    plansUnused: { count: own.length, names: own.slice(0, NAMES_MAX) },
    plans: (await read`SELECT name FROM plan ORDER BY name`).map(({ name }) => asText(name)),
    unsentEvents: asNumber(row.unsent),
  };
}

async function accountsWithoutKey(read: Sql, now: number): Promise<CountWithExamples> {
  return some(
    await read`SELECT a.id AS name, count(*) OVER () AS n FROM account a
    WHERE a.status = 'active' AND NOT EXISTS (SELECT 1 FROM api_key k WHERE k.account_id = a.id
      AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${now}))
    ORDER BY a.id LIMIT ${NAMES_MAX}`,
  );
}

/** Rows with a name, and how many there are in all. */
function some(rows: readonly Row[]): CountWithExamples {
  return { count: asNumber(rows[0]?.n ?? 0), names: rows.map(({ name }) => asText(name)) };
}
