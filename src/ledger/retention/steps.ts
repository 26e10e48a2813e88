import { MS_PER_DAY, utcDay } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, asText } from '../engine/rows.ts';
import { listOf } from '../engine/statements.ts';
import { LATER_BAR } from '../quarantine/decision.ts';
import { type Period, periodBefore, periodOf } from '../quota/period.ts';
import { deleteMarked } from '../symbols/delete-symbol.ts';
import { mergeChanges } from './merge-changes.ts';
import { DECISIONS_DAYS, KEY_USE_DAYS, LOST_LEASE_MONTHS, type RetentionRules } from './rules.ts';

/** Deletes what is no longer kept, and yields after each small batch. */
export type RetentionStep = (engine: Engine, now: number, rules: RetentionRules) => AsyncGenerator<void>;

/** Deletes one batch. Returns how many rows it found; 0 when nothing is left. */
type DeleteBatch = (engine: Engine, now: number, rules: RetentionRules) => Promise<number>;

/** A few ms, so that other writers do not wait long for SQLite's write lock. */
const ROWS_PER_BATCH = 500;
/** Each has some hundred rows of usage. */
const MONTHS_PER_BATCH = 20;

/** In this order: leases go before the usage that they are part of. */
export const RETENTION_STEPS: readonly RetentionStep[] = [
  mergeChanges,
  repeated(settleLostLeases),
  repeated(deleteUsage),
  repeated(deleteKeys),
  repeated(deleteImports),
  repeated(deleteBarDecisions),
  repeated(deleteTickDecisions),
  repeated(deleteAuditEntries),
  repeated(deleteKeyUses),
  repeated(deleteMinutes),
  repeated(deleteMarked),
];

function repeated(deleteBatch: DeleteBatch): RetentionStep {
  return async function* (engine, now, rules) {
    while ((await deleteBatch(engine, now, rules)) > 0) yield;
  };
}

/**
 * Settles the leases of hosts that never came back, so that they can be folded. Counts in their spools are lost with the
 * host.
 */
async function settleLostLeases(engine: Engine, now: number): Promise<number> {
  const newest = periodBefore(periodOf(now), LOST_LEASE_MONTHS);
  return engine.write(async (tx) => {
    const settled = await tx`UPDATE quota_lease SET settled = 1 WHERE lease_id IN (
        SELECT lease_id FROM quota_lease WHERE open = 0 AND settled = 0 AND period < ${newest}
        LIMIT ${ROWS_PER_BATCH})
      RETURNING lease_id`;
    return settled.length;
  });
}

/** The oldest month that is no longer kept, some accounts at a time: its count, its days and its events. */
async function deleteUsage(engine: Engine, now: number, { usageMonths }: RetentionRules): Promise<number> {
  const first = periodBefore(periodOf(now), usageMonths - 1);
  const rows = await engine.read`SELECT account_id, period
    FROM quota_period WHERE period < ${first} ORDER BY period LIMIT ${MONTHS_PER_BATCH}`;
  if (rows.length === 0) return 0;
  const period: Period = asNumber(rows[0]!.period);
  const accounts = rows.filter((row) => asNumber(row.period) === period).map((row) => asText(row.account_id));
  const { placeholder: p } = engine;
  await engine.write(async (tx) => {
    for (const table of ['usage_day', 'quota_event', 'quota_period']) {
      await tx.unsafe(
        `DELETE FROM ${table} WHERE period = ${p(1)} AND account_id IN (${listOf(engine, accounts.length, 2)})`,
        [period, ...accounts],
      );
    }
  });
  return accounts.length;
}

/** Keys that were revoked or expired long ago. Caches refuse unknown keys too. An expiry may be extended at the same time. */
async function deleteKeys(engine: Engine, now: number, { keysDays }: RetentionRules): Promise<number> {
  const before = now - keysDays * MS_PER_DAY;
  const rows = await engine.read`SELECT hash FROM api_key
    WHERE revoked_at < ${before} OR expires_at < ${before} LIMIT ${ROWS_PER_BATCH}`;
  if (rows.length === 0) return 0;
  const { placeholder: p } = engine;
  await engine.write((tx) =>
    tx.unsafe(
      `DELETE FROM api_key WHERE (revoked_at < ${p(1)} OR expires_at < ${p(2)})
         AND hash IN (${listOf(engine, rows.length, 3)})`,
      [before, before, ...rows.map(({ hash }) => hash)],
    ),
  );
  return rows.length;
}

/**
 * The oldest import that can no longer be undone: its revisions, then the import. Its bars stay. If it was undone, its revisions
 * stay, too: only they record that the prices they wrote must not be restored.
 */
async function deleteImports(engine: Engine, now: number, { importsDays }: RetentionRules): Promise<number> {
  const [run] = await engine.read`SELECT number FROM import_run
    WHERE started < ${now - importsDays * MS_PER_DAY}
      AND (undone IS NULL OR NOT EXISTS (SELECT 1 FROM import_revision i WHERE i.run = import_run.number))
    ORDER BY number LIMIT 1`;
  if (!run) return 0;
  return engine.write(async (tx) => {
    const deleted = await tx`DELETE FROM import_revision WHERE run = ${run.number} AND revision IN (
        SELECT revision FROM import_revision WHERE run = ${run.number} LIMIT ${ROWS_PER_BATCH})
      RETURNING revision`;
    if (deleted.length < ROWS_PER_BATCH) await tx`DELETE FROM import_run WHERE number = ${run.number}`;
    return deleted.length + 1;
  });
}

/**
 * Bars that an operator dropped stay: otherwise, they would be published if their feed sends them again. A bar that is held again
 * by a concurrent transaction stays, too. The outer WHERE repeats the condition for that: after waiting for a lock, PostgreSQL
 * checks it again, but not the inner SELECT.
 */
function deleteBarDecisions(engine: Engine, now: number): Promise<number> {
  const before = now - DECISIONS_DAYS * MS_PER_DAY;
  return engine.write(async (tx) => {
    const deleted = await tx`DELETE FROM quarantine_bar WHERE decided_at < ${before} AND id IN (
        SELECT id FROM quarantine_bar WHERE decided_at < ${before}
          AND (state <> 'dropped' OR decided_by = ${LATER_BAR}) LIMIT ${ROWS_PER_BATCH})
      RETURNING id`;
    return deleted.length;
  });
}

/** Found outside of the transaction: without an index, the search for the last ones reads the whole table. */
async function deleteTickDecisions(engine: Engine, now: number): Promise<number> {
  const rows = await engine.read`SELECT id FROM quarantine_tick
    WHERE decided_at < ${now - DECISIONS_DAYS * MS_PER_DAY} LIMIT ${ROWS_PER_BATCH}`;
  if (rows.length === 0) return 0;
  await engine.write((tx) =>
    tx.unsafe(
      `DELETE FROM quarantine_tick WHERE id IN (${listOf(engine, rows.length)})`,
      rows.map(({ id }) => id),
    ),
  );
  return rows.length;
}

function deleteAuditEntries(engine: Engine, now: number, { auditDays }: RetentionRules): Promise<number> {
  return engine.write(async (tx) => {
    const deleted = await tx`DELETE FROM audit_entry WHERE id IN (
        SELECT id FROM audit_entry WHERE at < ${now - auditDays * MS_PER_DAY} LIMIT ${ROWS_PER_BATCH})
      RETURNING id`;
    return deleted.length;
  });
}

/** Old uses of keys, including the last use of a key that is no longer used. */
function deleteKeyUses(engine: Engine, now: number): Promise<number> {
  return engine.write(async (tx) => {
    const deleted = await tx`DELETE FROM key_use WHERE (account_id, key_id, day, endpoint) IN (
        SELECT account_id, key_id, day, endpoint FROM key_use
        WHERE day < ${utcDay(now) - KEY_USE_DAYS} ORDER BY day LIMIT ${ROWS_PER_BATCH})
      RETURNING day`;
    return deleted.length;
  });
}

/** Minutes that are no longer kept. Their hours stay. */
function deleteMinutes(engine: Engine, now: number, { minuteBarsDays }: RetentionRules): Promise<number> {
  const first = utcDay(now) - minuteBarsDays;
  return engine.write(async (tx) => {
    const emptied = await tx`UPDATE hour_bar SET minutes = NULL WHERE (symbol_id, day, at, source_id) IN (
        SELECT symbol_id, day, at, source_id FROM hour_bar WHERE minutes IS NOT NULL AND day < ${first}
        LIMIT ${ROWS_PER_BATCH})
      RETURNING day`;
    return emptied.length;
  });
}
