import { Ledger } from '../../../src/ledger/ledger.ts';
import { type EngineName, newLedgerUrl } from '../ledger.ts';
import { newDatabase, onPostgresStop } from '../postgres.ts';

/** The database to copy on the server that `npm test` has started. */
const SHARED_TEMPLATE = process.env.OPENPIT_TEST_POSTGRES_TEMPLATE;

let template: Promise<string> | undefined;
let spare: Promise<string> | undefined;
onPostgresStop(() => {
  template = undefined;
  spare = undefined;
});

/**
 * The URL of a migrated, empty ledger. Migrating a new PostgreSQL database takes 300 ms, so the first one is copied, and
 * the next copy is prepared in advance. All copies have the epoch of the first.
 */
export async function readyLedgerUrl(engine: EngineName): Promise<string> {
  if (engine === 'sqlite') return newLedgerUrl(engine);
  template ??= SHARED_TEMPLATE === undefined ? makeTemplate() : Promise.resolve(SHARED_TEMPLATE);
  const name = new URL(await template).pathname.slice(1);
  const url = await (spare ?? newDatabase(`TEMPLATE ${name}`));
  spare = newDatabase(`TEMPLATE ${name}`);
  spare.catch(() => {}); // nobody awaits the last one
  return url;
}

/** Returns the URL of a database to copy. */
async function makeTemplate(): Promise<string> {
  const url = await newDatabase();
  const ledger = await Ledger.open(url, { now: () => 0 });
  await ledger.close();
  return url;
}

/** Starts PostgreSQL for other test processes. Returns the settings by which they find it and its template. */
export async function sharePostgres(): Promise<Record<string, string>> {
  const template = await makeTemplate();
  return {
    OPENPIT_TEST_POSTGRES_URL: template.slice(0, template.lastIndexOf('/')),
    OPENPIT_TEST_POSTGRES_TEMPLATE: template,
  };
}
