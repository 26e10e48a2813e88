import { Ledger } from '../../../src/ledger/ledger.ts';
import { type EngineName, newLedgerUrl } from '../ledger.ts';
import { newDatabase, onPostgresStop } from '../postgres.ts';

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
  template ??= makeTemplate();
  const name = await template;
  const url = await (spare ?? newDatabase(`TEMPLATE ${name}`));
  spare = newDatabase(`TEMPLATE ${name}`);
  spare.catch(() => {}); // nobody awaits the last one
  return url;
}

async function makeTemplate(): Promise<string> {
  const url = await newDatabase();
  const ledger = await Ledger.open(url, { now: () => 0 });
  await ledger.close();
  return new URL(url).pathname.slice(1);
}
