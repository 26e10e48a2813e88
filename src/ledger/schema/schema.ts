import { messageOf } from '../../runtime/log/log.ts';
import type { Engine } from '../engine/engine.ts';
import { isLockTimeout, isPermissionDenied } from '../engine/errors.ts';
import { asNumber, type Sql } from '../engine/rows.ts';
import type { Migration } from './migration.ts';
import { CREATE_MIGRATION, MIGRATIONS, SCHEMA_VERSION } from './migrations.ts';

/** Whether an existing ledger of an older version may be changed. A new ledger is created either way. */
export type SchemaPolicy = 'upgrade' | 'refuse';

/** The schema version of a ledger. Version 0 is a database without a ledger. */
export interface SchemaState {
  version: number;
  /** The migrations that this program would apply. */
  pending: readonly Migration[];
}

export interface MigrationOptions {
  /** Called each time another transaction holds a lock that the migration needs. */
  onLockWait?(message: string): void;
  lockAttempts?: number;
  lockPauseMs?: number;
}

/** While a migration waits for a lock, other statements queue behind it. This bounds their wait. */
const LOCK_WAIT_MS = 1_000;
/** Lets other transactions proceed between two attempts. */
const LOCK_PAUSE_MS = 4_000;
/** For five minutes. */
const LOCK_ATTEMPTS = 60;

/** Reads the schema version, and changes nothing. Throws when the ledger is newer than this program. */
export async function readSchema(engine: Engine, handle: Sql = engine.read): Promise<SchemaState> {
  if (!(await engine.hasTable(handle, 'migration'))) return { version: 0, pending: MIGRATIONS };
  const rows = await handle`SELECT id FROM migration`;
  const applied = new Set(rows.map((row) => asNumber(row.id)));
  const version = Math.max(0, ...applied);
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `the ledger has schema ${version}, and this program knows schema ${SCHEMA_VERSION}: run a newer openpit`,
    );
  }
  return { version, pending: MIGRATIONS.filter(({ id }) => !applied.has(id)) };
}

/**
 * Creates the schema, or migrates it if the policy allows it. Returns the state before. A current schema is only read, so
 * a database user without the right to create tables suffices.
 */
export async function prepareSchema(
  engine: Engine,
  policy: SchemaPolicy,
  options: MigrationOptions = {},
): Promise<SchemaState> {
  const found = await readSchema(engine);
  if (found.pending.length === 0) return found;
  requireAllowed(found, policy);
  try {
    return await migrate(engine, policy, options);
  } catch (error) {
    if (!isPermissionDenied(error)) throw error;
    throw new Error(
      `this database user may not change the ledger's schema (${messageOf(error)}): run "openpit migrate" as the user who owns it`,
    );
  }
}

/** Retries while another transaction holds a lock. */
async function migrate(
  engine: Engine,
  policy: SchemaPolicy,
  { onLockWait, lockAttempts = LOCK_ATTEMPTS, lockPauseMs = LOCK_PAUSE_MS }: MigrationOptions,
): Promise<SchemaState> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await engine.write((tx) => applyPending(engine, tx, policy), true);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const reason = `another transaction holds a lock on a table that the migration changes (attempt ${attempt} of ${lockAttempts})`;
      if (attempt === lockAttempts) throw new Error(`the ledger was not migrated: ${reason}`);
      onLockWait?.(`the migration cannot get a lock and tries again: ${reason}`);
      await Bun.sleep(lockPauseMs);
    }
  }
}

async function applyPending(engine: Engine, tx: Sql, policy: SchemaPolicy): Promise<SchemaState> {
  await engine.lockForMigration(tx);
  await engine.limitLockWaits(tx, LOCK_WAIT_MS);
  const found = await readSchema(engine, tx); // another process may have been first
  requireAllowed(found, policy);
  if (found.version === 0) await tx.unsafe(CREATE_MIGRATION);
  for (const { id, title, statements } of found.pending) {
    for (const statement of statements) await tx.unsafe(statement.replace('{clustered}', engine.clustered));
    await tx`INSERT INTO migration (id, title) VALUES (${id}, ${title})`;
  }
  await tx`INSERT INTO meta (name, value) VALUES ('epoch', ${crypto.randomUUID()}) ON CONFLICT DO NOTHING`;
  return found;
}

function requireAllowed({ version, pending }: SchemaState, policy: SchemaPolicy): void {
  if (policy === 'upgrade' || version === 0 || pending.length === 0) return;
  throw new Error(
    `the ledger has schema ${version}, and this program needs schema ${SCHEMA_VERSION}: back it up, then run "openpit migrate" ("openpit serve" migrates, too)`,
  );
}
