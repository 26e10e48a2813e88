import { copyFileSync } from 'node:fs';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { type EngineName, newLedgerUrl, onFoldersRemoved } from '../ledger.ts';
import { newDatabase, onPostgresStop } from '../postgres.ts';

/** The database to copy on the server that `npm test` has started. */
const SHARED_TEMPLATE = process.env.OPENPIT_TEST_POSTGRES_TEMPLATE;

const templates = new Map<EngineName, Promise<string>>();
onPostgresStop(() => templates.delete('postgres'));
onFoldersRemoved(() => templates.delete('sqlite'));

/**
 * The URL of a migrated, empty ledger. Migrating a new one takes 300 ms on PostgreSQL and 20 ms on SQLite, so the first one is
 * copied. All copies have the epoch of the first.
 */
export async function readyLedgerUrl(engine: EngineName): Promise<string> {
  const template = await templates.getOrInsertComputed(engine, templateOf);
  if (engine === 'postgres') return newDatabase(`TEMPLATE ${new URL(template).pathname.slice(1)}`);
  const url = await newLedgerUrl(engine);
  copyFileSync(template, url);
  return url;
}

/** Returns the URL of a ledger to copy. */
async function templateOf(engine: EngineName): Promise<string> {
  if (engine === 'postgres' && SHARED_TEMPLATE !== undefined) return SHARED_TEMPLATE;
  const url = await newLedgerUrl(engine);
  const ledger = await Ledger.open(url, { now: () => 0 });
  await ledger.close();
  return url;
}

/** Starts PostgreSQL for other test processes. Returns the settings by which they find it and its template. */
export async function sharePostgres(): Promise<Record<string, string>> {
  const template = await templateOf('postgres');
  return {
    OPENPIT_TEST_POSTGRES_URL: template.slice(0, template.lastIndexOf('/')),
    OPENPIT_TEST_POSTGRES_TEMPLATE: template,
  };
}
