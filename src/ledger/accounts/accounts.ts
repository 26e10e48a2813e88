import type { AuditLog } from '../audit/audit-log.ts';
import { changedFields } from '../audit/entry.ts';
import type { Engine } from '../engine/engine.ts';
import { containing, like } from '../engine/like.ts';
import { lockRevisions, nextRevision } from '../engine/revisions.ts';
import { asNumber, asOneOf, asText, type Cell, rowReader, type Sql } from '../engine/rows.ts';
import { type Period, periodStart } from '../quota/period.ts';
import { deleteAccount } from './delete-account.ts';
import { type ApiKey, KEY } from './keys.ts';
import { changedPlans, type Plan, requirePlan } from './plans.ts';

export interface Account {
  id: string;
  name: string;
  plan: string;
  status: 'active' | 'suspended';
  createdAt: number;
}

/** A key with its account. */
export interface FoundKey {
  key: ApiKey;
  account: Account;
}

const ACCOUNT = rowReader<Account>({
  id: asText,
  name: asText,
  plan: asText,
  status: asOneOf('active', 'suspended'),
  createdAt: asNumber,
});

/** The columns of a key `k` and its account `a`. */
const FOUND_KEY = `${KEY.columnsOf('k')}, ${ACCOUNT.columnsOf('a')}`;

function foundKey(cells: readonly Cell[]): FoundKey {
  return { key: KEY.readCells(cells), account: ACCOUNT.readCells(cells, KEY.width) };
}

/** The accounts. Their plans are in `PlanStore`, their keys in `KeyStore`. */
export class AccountStore {
  readonly #engine: Engine;
  readonly #audit: AuditLog;

  constructor(engine: Engine, audit: AuditLog) {
    this.#engine = engine;
    this.#audit = audit;
  }

  /**
   * Accounts by creation time, from after one of them if it is given; with `search`, only those whose id, name or plan
   * contains it.
   */
  async list(search = '', limit = 1_000, after?: Account): Promise<Account[]> {
    const { read, placeholder: p } = this.#engine;
    const part = containing(search.toLowerCase());
    // SQLite's `lower` changes only ASCII letters, so other names are found as they are written.
    const rows = await read.unsafe(
      `SELECT ${ACCOUNT.columns} FROM account
       WHERE (created_at, id) > (${p(1)}, ${p(2)})
         AND (lower(id) ${like(p(3))} OR lower(name) ${like(p(4))} OR name ${like(p(5))} OR plan ${like(p(6))})
       ORDER BY created_at, id LIMIT ${p(7)}`,
      [after?.createdAt ?? 0, after?.id ?? '', part, part, containing(search), part, limit],
    );
    return rows.map(ACCOUNT.read);
  }

  async find(id: string): Promise<Account | undefined> {
    const { read, placeholder: p } = this.#engine;
    const [row] = await read.unsafe(`SELECT ${ACCOUNT.columns} FROM account WHERE id = ${p(1)}`, [id]);
    return row && ACCOUNT.read(row);
  }

  /**
   * Reads the next `limit` accounts by id, after `after`. Returns those that were created or used in the month `since` or later,
   * and the last one read; `last` is undefined when there are no more accounts.
   */
  async activePage(after: string, since: Period, limit = 128): Promise<{ ids: string[]; last?: string }> {
    const { read, placeholder: p } = this.#engine;
    const rows = await read.unsafe(
      `SELECT id, status = 'active' AND (created_at >= ${p(1)} OR EXISTS (
         SELECT 1 FROM quota_period q WHERE q.account_id = page.id AND q.period >= ${p(2)})) AS active
       FROM (SELECT id, status, created_at FROM account WHERE id > ${p(3)} ORDER BY id LIMIT ${p(4)}) page ORDER BY id`,
      [periodStart(since), since, after, limit],
    );
    const ids = rows.filter(({ active }) => active).map(({ id }) => asText(id));
    return rows.length < limit ? { ids } : { ids, last: asText(rows.at(-1)!.id) };
  }

  async create(account: Account): Promise<void> {
    await this.#engine.write((tx) => insertAccount(tx, this.#audit, account));
  }

  /** Creates an account unless its id exists. Replicas that start together may all call this. */
  async ensure(account: Account): Promise<void> {
    if (await this.find(account.id)) return;
    await this.#engine.write(async (tx) => {
      await lockRevisions(tx, 'accounts');
      const [existing] = await tx`SELECT id FROM account WHERE id = ${account.id}`;
      if (!existing) await insertAccount(tx, this.#audit, account);
    });
  }

  /** Changes an account's plan or status; false when the account does not exist. */
  async update(id: string, change: Partial<Pick<Account, 'plan' | 'status'>>): Promise<boolean> {
    return this.#engine.write(async (tx) => {
      const revision = await nextRevision(tx, 'accounts');
      if (change.plan !== undefined) await requirePlan(tx, change.plan);
      const { placeholder: p } = this.#engine;
      const [row] = await tx.unsafe(`SELECT ${ACCOUNT.columns} FROM account WHERE id = ${p(1)}`, [id]);
      if (!row) return false;
      const before = ACCOUNT.read(row);
      const { plan, status } = { ...before, ...change };
      await tx`UPDATE account SET plan = ${plan}, status = ${status}, revision = ${revision} WHERE id = ${id}`;
      const changed = changedFields(before, { ...before, plan, status });
      await this.#audit.record(tx, { action: 'account.update', target: id, details: changed });
      return true;
    });
  }

  /** Deletes an account, its keys and its usage. False when there was nothing to delete. */
  delete(id: string): Promise<boolean> {
    return deleteAccount(this.#engine, this.#audit, id);
  }

  async byKeyHash(hash: string): Promise<FoundKey | undefined> {
    return (await this.byKeyHashes([hash])).get(hash);
  }

  /** Finds keys by hash, all at once. Unknown hashes are absent from the result. */
  async byKeyHashes(hashes: readonly string[]): Promise<Map<string, FoundKey>> {
    const rows = await this.#engine.forRows(
      this.#engine.read,
      { hash: 'TEXT' },
      hashes.map((hash) => [hash]),
      (n) => `SELECT ${FOUND_KEY} FROM ${n.table} CROSS JOIN api_key k
       JOIN account a ON a.id = k.account_id WHERE k.hash = ${n.cell('hash')}`,
    );
    return new Map(rows.map(foundKey).map((one) => [one.key.hash, one]));
  }

  /** The keys of these accounts that are not revoked. */
  async keysOf(accountIds: readonly string[]): Promise<FoundKey[]> {
    const rows = await this.#engine.forRows(
      this.#engine.read,
      { id: 'TEXT' },
      accountIds.map((id) => [id]),
      (n) => `SELECT ${FOUND_KEY} FROM ${n.table} CROSS JOIN account a
       JOIN api_key k ON k.account_id = a.id WHERE a.id = ${n.cell('id')} AND k.revoked_at IS NULL`,
    );
    return rows.map(foundKey);
  }

  /** What revisions in (after, upTo] changed, so that a cache can evict it: plans, accounts, and accounts whose keys changed. */
  async changes(
    after: number,
    upTo: number,
  ): Promise<{ plans: Plan[]; accountIds: string[]; keyOwnerIds: string[] }> {
    const { read } = this.#engine;
    const plans = await changedPlans(this.#engine, after, upTo);
    const accounts = await read`SELECT id FROM account WHERE revision > ${after} AND revision <= ${upTo}`;
    const owners = await read`SELECT DISTINCT account_id FROM api_key
      WHERE revision > ${after} AND revision <= ${upTo}`;
    return {
      plans,
      accountIds: accounts.map((row) => asText(row.id)),
      keyOwnerIds: owners.map((row) => asText(row.account_id)),
    };
  }
}

async function insertAccount(tx: Sql, audit: AuditLog, account: Account): Promise<void> {
  const revision = await nextRevision(tx, 'accounts');
  await requirePlan(tx, account.plan);
  await tx`INSERT INTO account (id, name, plan, status, created_at, revision) VALUES
    (${account.id}, ${account.name}, ${account.plan}, ${account.status}, ${account.createdAt}, ${revision})`;
  const { id, name, plan } = account;
  await audit.record(tx, { action: 'account.create', target: id, details: { name, plan } });
}
