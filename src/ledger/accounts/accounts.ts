import type { Engine } from '../engine/engine.ts';
import { lockRevisions, nextRevision } from '../engine/revisions.ts';
import { asNumber, asText, onlyRow, type Row, type Sql } from '../engine/rows.ts';
import { listOf, sortBy } from '../engine/statements.ts';
import { deleteAccount } from './delete-account.ts';
import { type KeyOwner, type KeyRefusal, refuseNewKey, refuseOwner } from './key-owner.ts';

/** What an account may do. Plans are data: an operator changes them while the service runs. */
export interface Plan {
  name: string;
  /** Answers per calendar month, UTC. */
  quota: number;
  delaySeconds: number;
  maxSymbols: number;
  maxSpanDays: number;
  burstPerSecond: number;
  /** Whether /rates/history is open to it. */
  history: boolean;
}

export interface Account {
  id: string;
  name: string;
  plan: string;
  status: 'active' | 'suspended';
  createdAt: number;
}

/** A key as the ledger knows it: its hash, never itself. */
export interface ApiKey {
  id: string;
  hash: string;
  accountId: string;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  /** Addresses and CIDR ranges that may use it; null for any. */
  allowedIps: string[] | null;
  /** Refused when it comes in the URL. */
  headerOnly: boolean;
}

/** A key with its account. */
export interface FoundKey {
  key: ApiKey;
  account: Account;
}

/** The largest integer that RateLimit headers can carry (RFC 9651: 15 digits). */
export const QUOTA_MAX = 999_999_999_999_999;

/** The numbers of hashes that a query may have. */
const HASHES_PER_QUERY = [1, 32, 1_024];

export class AccountStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async plans(): Promise<Plan[]> {
    const plans: Plan[] = (await this.#engine.read`SELECT * FROM plan`).map(toPlan);
    return sortBy(plans, (plan) => plan.name);
  }

  async setPlan(plan: Plan): Promise<void> {
    await this.#engine.write((tx) => writePlan(tx, plan));
  }

  /** Changes what is given of a plan, or of `base` where there is none of that name. Returns the plan. */
  async changePlan(base: Plan, change: Partial<Plan>): Promise<Plan> {
    return this.#engine.write(async (tx) => {
      await lockRevisions(tx, 'accounts'); // two changes at a time must not undo each other
      const [row] = await tx`SELECT * FROM plan WHERE name = ${base.name}`;
      const plan = { ...(row ? toPlan(row) : base), ...change };
      await writePlan(tx, plan);
      return plan;
    });
  }

  /** Removes a plan that no account has; false when there is none of that name, a number when so many have it. */
  async deletePlan(name: string): Promise<boolean | number> {
    return this.#engine.write(async (tx) => {
      await nextRevision(tx, 'accounts'); // from here on no account can take the plan
      const row = onlyRow(await tx`SELECT count(*) AS n FROM account WHERE plan = ${name}`);
      if (asNumber(row.n) > 0) return asNumber(row.n);
      const deleted = await tx`DELETE FROM plan WHERE name = ${name} RETURNING name`;
      return deleted.length > 0;
    });
  }

  /** Accounts in the order they were made; those with `search` in their id, name or plan. */
  async list(search = '', limit = 1_000): Promise<Account[]> {
    const part = `%${search.toLowerCase()}%`;
    const rows = await this.#engine.read`SELECT * FROM account
      WHERE lower(id) LIKE ${part} OR lower(name) LIKE ${part} OR plan LIKE ${part}
      ORDER BY created_at, id LIMIT ${limit}`;
    return rows.map(toAccount);
  }

  async find(id: string): Promise<Account | undefined> {
    const [row] = await this.#engine.read`SELECT * FROM account WHERE id = ${id}`;
    return row && toAccount(row);
  }

  async create(account: Account): Promise<void> {
    await this.#engine.write((tx) => insertAccount(tx, account));
  }

  /** Creates an account unless there is one with its id. Replicas that start together may all call this. */
  async ensure(account: Account): Promise<void> {
    if (await this.find(account.id)) return;
    await this.#engine.write(async (tx) => {
      await lockRevisions(tx, 'accounts');
      const [existing] = await tx`SELECT id FROM account WHERE id = ${account.id}`;
      if (!existing) await insertAccount(tx, account);
    });
  }

  /** Changes an account's plan or status; false when there is no such account. */
  async update(id: string, change: Partial<Pick<Account, 'plan' | 'status'>>): Promise<boolean> {
    return this.#engine.write(async (tx) => {
      const revision = await nextRevision(tx, 'accounts');
      if (change.plan !== undefined) await requirePlan(tx, change.plan);
      const [row] = await tx`UPDATE account SET plan = coalesce(${change.plan ?? null}, plan),
        status = coalesce(${change.status ?? null}, status), revision = ${revision} WHERE id = ${id} RETURNING id`;
      return row !== undefined;
    });
  }

  /** Deletes an account, its keys and its usage. False when there is none of it. */
  delete(id: string): Promise<boolean> {
    return deleteAccount(this.#engine, id);
  }

  /** Adds a key. An owner is refused when it has as many as it may have; the operator, without `owner`, never is. */
  async addKey(key: ApiKey, owner?: KeyOwner): Promise<KeyRefusal | undefined> {
    return this.#engine.write(async (tx) => {
      await lockRevisions(tx, 'accounts');
      const refusal = owner && (await refuseNewKey(tx, key.accountId, owner));
      if (refusal) return refusal;
      await insertKey(tx, key, await nextRevision(tx, 'accounts'));
      return undefined;
    });
  }

  async keys(accountId: string): Promise<ApiKey[]> {
    return (
      await this.#engine.read`SELECT * FROM api_key WHERE account_id = ${accountId} ORDER BY created_at, id`
    ).map(toKey);
  }

  async findKey(id: string): Promise<ApiKey | undefined> {
    const [row] = await this.#engine.read`SELECT * FROM api_key WHERE id = ${id}`;
    return row && toKey(row);
  }

  /**
   * Adds a key in the place of an active one, which expires at `oldExpiresAt`, or before, if it would have. Refused when
   * the old one no longer works, and as `addKey` is.
   */
  async replaceKey(
    oldId: string,
    oldExpiresAt: number,
    key: ApiKey,
    owner?: KeyOwner,
  ): Promise<KeyRefusal | undefined> {
    return this.#engine.write(async (tx) => {
      await lockRevisions(tx, 'accounts');
      const [old] = await tx`SELECT * FROM api_key WHERE id = ${oldId} AND account_id = ${key.accountId}`;
      if (!old || !isActive(toKey(old), key.createdAt)) return 'inactive';
      const refusal = owner && (await refuseNewKey(tx, key.accountId, owner));
      if (refusal) return refusal;
      const revision = await nextRevision(tx, 'accounts');
      await tx`UPDATE api_key SET revision = ${revision}, expires_at =
        CASE WHEN expires_at IS NULL OR expires_at > ${oldExpiresAt} THEN ${oldExpiresAt} ELSE expires_at END
        WHERE id = ${oldId}`;
      await insertKey(tx, key, revision);
      return undefined;
    });
  }

  /** Revokes by key id; false when there is no such key. Revoking twice keeps the first time. */
  async revokeKey(id: string, at: number): Promise<boolean> {
    return this.#engine.write(async (tx) => {
      const revision = await nextRevision(tx, 'accounts');
      const [row] =
        await tx`UPDATE api_key SET revoked_at = coalesce(revoked_at, ${at}), revision = ${revision}
        WHERE id = ${id} RETURNING id`;
      return row !== undefined;
    });
  }

  /** Revokes a key of the owner's account, unless no active key would be left. */
  async revokeKeyOf(accountId: string, id: string, owner: KeyOwner): Promise<KeyRefusal | undefined> {
    const { now: at } = owner;
    return this.#engine.write(async (tx) => {
      await lockRevisions(tx, 'accounts'); // from here on no other key of it can be revoked
      const refusal = await refuseOwner(tx, accountId, owner);
      if (refusal) return refusal;
      const rows = await tx`SELECT * FROM api_key WHERE account_id = ${accountId}`;
      const keys: ApiKey[] = rows.map(toKey);
      if (!keys.some((key) => key.id === id)) return 'unknown';
      if (!keys.some((key) => key.id !== id && isActive(key, at))) return 'last';
      const revision = await nextRevision(tx, 'accounts');
      await tx`UPDATE api_key SET revoked_at = coalesce(revoked_at, ${at}), revision = ${revision}
        WHERE id = ${id}`;
      return undefined;
    });
  }

  /** The key with this hash and the account it belongs to. */
  async byKeyHash(hash: string): Promise<FoundKey | undefined> {
    return (await this.byKeyHashes([hash])).get(hash);
  }

  /** The same for up to 1,024 keys in one query. Unknown ones are absent. */
  async byKeyHashes(hashes: readonly string[]): Promise<Map<string, FoundKey>> {
    const size = HASHES_PER_QUERY.find((one) => one >= hashes.length)!;
    // Repeating the last hash leaves three statements to prepare instead of a thousand.
    const padded = Array.from({ length: size }, (_, i) => hashes[Math.min(i, hashes.length - 1)]!);
    const rows: Row[] = await this.#engine.read.unsafe(
      `SELECT k.*, a.name AS account_name, a.plan, a.status, a.created_at AS account_created_at
       FROM api_key k JOIN account a ON a.id = k.account_id WHERE k.hash IN (${listOf(this.#engine, size)})`,
      padded,
    );
    return new Map(rows.map((row) => [asText(row.hash), toFoundKey(row)]));
  }

  /** What changed in (after, upTo], so that a cache can let go of it. */
  async changes(
    after: number,
    upTo: number,
  ): Promise<{ plans: Plan[]; accountIds: string[]; keyHashes: string[] }> {
    const { read } = this.#engine;
    const plans = await read`SELECT * FROM plan WHERE revision > ${after} AND revision <= ${upTo}`;
    const accounts = await read`SELECT id FROM account WHERE revision > ${after} AND revision <= ${upTo}`;
    const keys = await read`SELECT hash FROM api_key WHERE revision > ${after} AND revision <= ${upTo}`;
    return {
      plans: plans.map(toPlan),
      accountIds: accounts.map((row) => asText(row.id)),
      keyHashes: keys.map((row) => asText(row.hash)),
    };
  }
}

/** Whether a key may be used, and if not, why. Every check of a key's validity goes through this. */
export function keyStatus(
  { revokedAt, expiresAt }: Pick<ApiKey, 'revokedAt' | 'expiresAt'>,
  now: number,
): 'active' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt === null || expiresAt > now ? 'active' : 'expired';
}

export function isActive(key: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, now: number): boolean {
  return keyStatus(key, now) === 'active';
}

/** A plan that is not in the ledger. */
export class UnknownPlan extends Error {
  constructor(name: string, known?: readonly string[]) {
    super(`there is no plan "${name}"${known ? `; the plans are ${known.join(', ')}` : ''}`);
  }
}

/** The caller holds the lock on the accounts' counter, so the plan cannot be deleted before its transaction ends. */
async function requirePlan(tx: Sql, name: string): Promise<void> {
  const [row] = await tx`SELECT name FROM plan WHERE name = ${name}`;
  if (!row) throw new UnknownPlan(name);
}

async function insertAccount(tx: Sql, account: Account): Promise<void> {
  const revision = await nextRevision(tx, 'accounts');
  await requirePlan(tx, account.plan);
  await tx`INSERT INTO account (id, name, plan, status, created_at, revision) VALUES
    (${account.id}, ${account.name}, ${account.plan}, ${account.status}, ${account.createdAt}, ${revision})`;
}

async function insertKey(tx: Sql, key: ApiKey, revision: number): Promise<void> {
  await tx`INSERT INTO api_key
      (hash, id, account_id, created_at, expires_at, revoked_at, allowed_ips, header_only, revision)
    VALUES (${key.hash}, ${key.id}, ${key.accountId}, ${key.createdAt}, ${key.expiresAt}, ${key.revokedAt},
      ${key.allowedIps === null ? null : key.allowedIps.join(',')}, ${key.headerOnly ? 1 : 0}, ${revision})`;
}

export async function writePlan(tx: Sql, plan: Plan): Promise<void> {
  const revision = await nextRevision(tx, 'accounts');
  await tx`INSERT INTO plan (name, quota, delay_seconds, max_symbols, max_span_days, burst_per_second, history, revision)
    VALUES (${plan.name}, ${plan.quota}, ${plan.delaySeconds}, ${plan.maxSymbols}, ${plan.maxSpanDays},
      ${plan.burstPerSecond}, ${plan.history ? 1 : 0}, ${revision})
    ON CONFLICT (name) DO UPDATE SET quota = excluded.quota, delay_seconds = excluded.delay_seconds,
      max_symbols = excluded.max_symbols, max_span_days = excluded.max_span_days,
      burst_per_second = excluded.burst_per_second, history = excluded.history, revision = excluded.revision`;
}

function toPlan(row: Row): Plan {
  return {
    name: asText(row.name),
    quota: asNumber(row.quota),
    delaySeconds: asNumber(row.delay_seconds),
    maxSymbols: asNumber(row.max_symbols),
    maxSpanDays: asNumber(row.max_span_days),
    burstPerSecond: asNumber(row.burst_per_second),
    history: asNumber(row.history) === 1,
  };
}

function toAccount(row: Row): Account {
  return {
    id: asText(row.id),
    name: asText(row.name),
    plan: asText(row.plan),
    status: row.status === 'suspended' ? 'suspended' : 'active',
    createdAt: asNumber(row.created_at),
  };
}

function toFoundKey(row: Row): FoundKey {
  const { account_id: id, account_name: name, plan, status, account_created_at: created_at } = row;
  return { key: toKey(row), account: toAccount({ id, name, plan, status, created_at } as Row) };
}

function toKey(row: Row): ApiKey {
  return {
    id: asText(row.id),
    hash: asText(row.hash),
    accountId: asText(row.account_id),
    createdAt: asNumber(row.created_at),
    expiresAt: row.expires_at === null ? null : asNumber(row.expires_at),
    revokedAt: row.revoked_at === null ? null : asNumber(row.revoked_at),
    allowedIps: row.allowed_ips === null ? null : asText(row.allowed_ips).split(',').filter(Boolean),
    headerOnly: asNumber(row.header_only) === 1,
  };
}
