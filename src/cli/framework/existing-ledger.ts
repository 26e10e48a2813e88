import type { Config } from '../../config.ts';
import { fileExists } from '../../ledger/inspection/file-exists.ts';
import { ledgerPath } from '../../ledger/open-engine.ts';
import { systemClock } from '../../runtime/clock.ts';

/** What to tell the user if there is no ledger where the settings point; undefined if there is one. */
export async function missingLedger(config: Config): Promise<string | undefined> {
  const path = ledgerPath(config);
  const place = path === undefined ? 'in the database of OPENPIT_DATABASE_URL' : `at ${path}`;
  const isMissing = path !== undefined && !fileExists(path);
  return isMissing || (await isEmpty(config)) ? `there is no ledger ${place}` : undefined;
}

async function isEmpty({ databaseUrl }: Config): Promise<boolean> {
  const { Ledger } = await import('../../ledger/ledger.ts'); // commands for servers do not need it
  return (await Ledger.schema(databaseUrl, systemClock)).version === 0;
}
