import type { Config } from '../../config.ts';
import { fileExists } from '../../ledger/inspection/file-exists.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { ledgerPath } from '../../ledger/open-engine.ts';
import type { Migration } from '../../ledger/schema/migration.ts';
import { MIGRATIONS, SCHEMA_VERSION } from '../../ledger/schema/migrations.ts';
import type { SchemaState } from '../../ledger/schema/schema.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Command } from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Migrate the ledger to the schema of this version, or create it; back it up first',
  flags: { 'dry-run': { help: 'List the statements that would run, without running them' } },
  async run({ config, isSet }) {
    const lines = isSet('dry-run')
      ? plannedChanges(await currentSchema(config))
      : completedChanges(
          await Ledger.migrate(config.databaseUrl, systemClock, { onLockWait: console.error }),
        );
    printLine(lines.join('\n'));
  },
};

/** Opening a SQLite file would create it, so a missing one is not opened. */
async function currentSchema(config: Config): Promise<SchemaState> {
  const path = ledgerPath(config);
  if (path !== undefined && !fileExists(path)) return { version: 0, pending: MIGRATIONS };
  return Ledger.schema(config.databaseUrl, systemClock);
}

function plannedChanges({ version, pending }: SchemaState): string[] {
  if (pending.length === 0) return [UP_TO_DATE];
  const first =
    version === 0
      ? 'There is no ledger yet. These statements would create it:'
      : `Schema ${version} would change:`;
  return [
    first,
    ...pending.flatMap((migration) => [titleOf(migration), ...migration.statements.map(indent)]),
  ];
}

function completedChanges({ version, pending }: SchemaState): string[] {
  if (pending.length === 0) return [UP_TO_DATE];
  if (version === 0) return [`Created the ledger (schema ${SCHEMA_VERSION}).`];
  return [`Migrated the ledger from schema ${version} to ${SCHEMA_VERSION}:`, ...pending.map(titleOf)];
}

const UP_TO_DATE = `The ledger is up to date (schema ${SCHEMA_VERSION}).`;

function titleOf({ id, title }: Migration): string {
  return `  ${id}  ${title}`;
}

function indent(statement: string): string {
  return `      ${statement.replace('{clustered}', '').replace(/\s+/g, ' ').trim()};`;
}
