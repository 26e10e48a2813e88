import { Ledger } from '../../src/ledger/ledger.ts';
import { type EngineName, newLedgerUrl } from './ledger.ts';
import { newDatabase, onPostgresStop } from './postgres.ts';

let template: Promise<string> | undefined;
let spare: Promise<string> | undefined;
onPostgresStop(() => {
  template = undefined;
  spare = undefined;
});

/**
 * The URL of a ledger as it is after its first opening. A new PostgreSQL takes 300 ms, 40 times over; so the first is
 * copied, and the next copy is made while this one is in use. All copies have the epoch of the first.
 */
export async function readyLedgerUrl(engine: EngineName): Promise<string> {
  if (engine === 'sqlite') return newLedgerUrl(engine);
  template ??= makeTemplate();
  const name = await template;
  const url = await (spare ?? newDatabase(`TEMPLATE ${name}`));
  spare = newDatabase(`TEMPLATE ${name}`);
  spare.catch(() => {}); // the last one is not waited for
  return url;
}

async function makeTemplate(): Promise<string> {
  const url = await newDatabase();
  const ledger = await Ledger.open(url, { now: () => 0 });
  await ledger.close();
  return new URL(url).pathname.slice(1);
}
