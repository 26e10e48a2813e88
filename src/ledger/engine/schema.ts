import type { Engine } from '../engine.ts';
import { CREATE_MIGRATION, MIGRATIONS, type Migration, SCHEMA_VERSION } from '../migrations.ts';
import { isPermissionDenied } from '../outage.ts';
import { asNumber, type Sql } from './rows.ts';

/** Whether an existing ledger of an older version may be changed. A new ledger is created either way. */
export type SchemaPolicy = 'upgrade' | 'refuse';

/** How far a ledger's schema is. Version 0 is a database without a ledger. */
export interface SchemaState {
  version: number;
  /** What this program would do to it. */
  pending: readonly Migration[];
}

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
 * Creates the schema, or brings it up to date where the policy allows it. Returns the state it found. A current schema is
 * only read, so a database user without the right to create tables suffices.
 */
export async function prepareSchema(engine: Engine, policy: SchemaPolicy): Promise<SchemaState> {
  const found = await readSchema(engine);
  if (found.pending.length === 0) return found;
  requireAllowed(found, policy);
  try {
    return await engine.write((tx) => applyPending(engine, tx, policy), true);
  } catch (error) {
    if (!isPermissionDenied(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `this database user may not change the ledger's schema (${reason}): run "openpit migrate" as the user who owns it`,
    );
  }
}

async function applyPending(engine: Engine, tx: Sql, policy: SchemaPolicy): Promise<SchemaState> {
  await engine.lockForMigration(tx);
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
