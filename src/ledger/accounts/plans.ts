import { AlreadyExists, type DefinitionOptions } from '../already-exists.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { changedFields } from '../audit/entry.ts';
import type { Engine } from '../engine/engine.ts';
import { lockRevisions, nextRevision } from '../engine/revisions.ts';
import { asFlag, asNumber, asText, onlyRow, type Row, rowReader, type Sql } from '../engine/rows.ts';
import { sortBy } from '../engine/statements.ts';

/** What an account may do. Plans are data: an operator changes them while the service runs. */
export interface Plan {
  name: string;
  /** Responses per calendar month, UTC. */
  quota: number;
  delaySeconds: number;
  maxSymbols: number;
  /** Days between the first and last day of a time series; null: the limit of the interface version. */
  maxSpanDays: number | null;
  burstPerSecond: number;
  /** Whether the plan includes /rates/history. */
  history: boolean;
}

/** The largest integer that RateLimit headers can carry (RFC 9651: 15 digits). */
export const QUOTA_MAX = 999_999_999_999_999;

/** The highest values of the other limits; more is a typing error. */
export const PLAN_LIMITS = {
  delaySeconds: 86_400,
  maxSymbols: 100_000,
  maxSpanDays: 100_000,
  burstPerSecond: 1_000_000,
};

/** A plan that is not in the ledger. */
export class UnknownPlan extends Error {
  constructor(name: string, known?: readonly string[]) {
    super(`there is no plan "${name}"${known ? `; the plans are ${known.join(', ')}` : ''}`);
  }
}

interface PlanRow extends Plan {
  maxSpanDays: number;
  /** Whether the operator set `maxSpanDays`: the former default of 30 can be either. */
  maxSpanSet: boolean;
}

const PLAN = rowReader<PlanRow>({
  name: asText,
  quota: asNumber,
  delaySeconds: asNumber,
  maxSymbols: asNumber,
  maxSpanDays: asNumber,
  burstPerSecond: asNumber,
  history: asFlag,
  maxSpanSet: asFlag,
});

/** What stands for "no limit of its own" in the ledger. Programs of schema 13 and older apply it as a limit. */
const SPAN_DAYS_UNSET = 30;

function readPlan(row: Row): Plan {
  const { maxSpanSet, ...plan } = PLAN.read(row);
  const isUnset = !maxSpanSet && plan.maxSpanDays === SPAN_DAYS_UNSET;
  return isUnset ? { ...plan, maxSpanDays: null } : plan;
}

/** The outcome of deleting a plan; `accounts` is how many accounts have it. */
export type PlanDeletion = 'deleted' | 'unknown' | { readonly accounts: number };

/** The plans of the service. */
export class PlanStore {
  readonly #engine: Engine;
  readonly #audit: AuditLog;

  constructor(engine: Engine, audit: AuditLog) {
    this.#engine = engine;
    this.#audit = audit;
  }

  async list(): Promise<Plan[]> {
    const rows = await this.#engine.read.unsafe(`SELECT ${PLAN.columns} FROM plan`);
    return sortBy(rows.map(readPlan), (plan) => plan.name);
  }

  async set(plan: Plan): Promise<void> {
    await this.#engine.write((tx) => writePlan(tx, plan));
  }

  /** Changes some fields of a plan. Creates it from `base` when no plan has its name. */
  change(base: Plan, change: Partial<Plan>, { onlyNew = false }: DefinitionOptions = {}): Promise<Plan> {
    return this.#engine.write(async (tx) => {
      await lockRevisions(tx, 'accounts'); // a concurrent change must not be lost
      const find = `SELECT ${PLAN.columns} FROM plan WHERE name = ${this.#engine.placeholder(1)}`;
      const [row] = await tx.unsafe(find, [base.name]);
      if (row && onlyNew) throw new AlreadyExists();
      const before = row && readPlan(row);
      const plan = { ...(before ?? base), ...change };
      await writePlan(tx, plan);
      await this.#audit.record(tx, {
        action: before ? 'plan.update' : 'plan.create',
        target: plan.name,
        details: before ? changedFields(before, plan) : { ...plan },
      });
      return plan;
    });
  }

  /** Deletes a plan, unless it has accounts. */
  delete(name: string): Promise<PlanDeletion> {
    return this.#engine.write(async (tx): Promise<PlanDeletion> => {
      await nextRevision(tx, 'accounts'); // locks the accounts: none can get the plan from here on
      const accounts = asNumber(onlyRow(await tx`SELECT count(*) AS n FROM account WHERE plan = ${name}`).n);
      if (accounts > 0) return { accounts };
      const [deleted] = await tx.unsafe(
        `DELETE FROM plan WHERE name = ${this.#engine.placeholder(1)} RETURNING ${PLAN.columns}`,
        [name],
      );
      if (!deleted) return 'unknown';
      await this.#audit.record(tx, {
        action: 'plan.delete',
        target: name,
        details: { ...readPlan(deleted) },
      });
      return 'deleted';
    });
  }
}

/** The plans that revisions in (after, upTo] changed. */
export async function changedPlans(
  { read, placeholder: p }: Engine,
  after: number,
  upTo: number,
): Promise<Plan[]> {
  const where = `revision > ${p(1)} AND revision <= ${p(2)}`;
  const rows = await read.unsafe(`SELECT ${PLAN.columns} FROM plan WHERE ${where}`, [after, upTo]);
  return rows.map(readPlan);
}

export async function writePlan(tx: Sql, plan: Plan): Promise<void> {
  const revision = await nextRevision(tx, 'accounts');
  await tx`INSERT INTO plan (name, quota, delay_seconds, max_symbols, max_span_days, max_span_set, burst_per_second,
      history, revision)
    VALUES (${plan.name}, ${plan.quota}, ${plan.delaySeconds}, ${plan.maxSymbols},
      ${plan.maxSpanDays ?? SPAN_DAYS_UNSET}, ${plan.maxSpanDays === null ? 0 : 1}, ${plan.burstPerSecond},
      ${plan.history ? 1 : 0}, ${revision})
    ON CONFLICT (name) DO UPDATE SET quota = excluded.quota, delay_seconds = excluded.delay_seconds,
      max_symbols = excluded.max_symbols, max_span_days = excluded.max_span_days, max_span_set = excluded.max_span_set,
      burst_per_second = excluded.burst_per_second, history = excluded.history, revision = excluded.revision`;
}

/** The caller holds the lock of the accounts' revisions, so the plan cannot be deleted before its transaction ends. */
export async function requirePlan(tx: Sql, name: string): Promise<void> {
  const [row] = await tx`SELECT name FROM plan WHERE name = ${name}`;
  if (!row) throw new UnknownPlan(name);
}
