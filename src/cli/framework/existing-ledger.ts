import type { Config } from '../../config.ts';
import { fileExists } from '../../ledger/inspection/file-exists.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { ledgerPath } from '../../ledger/open-engine.ts';
import { systemClock } from '../../runtime/clock.ts';
import { UsageError } from './command.ts';

/** For commands that would otherwise create an empty ledger in a mistyped place, and report success. */
export async function requireExistingLedger(config: Config): Promise<void> {
  const path = ledgerPath(config);
  const place = path === undefined ? 'in the database of OPENPIT_DATABASE_URL' : `at ${path}`;
  const isMissing = path !== undefined && !fileExists(path);
  if (isMissing || (await Ledger.schema(config.databaseUrl, systemClock)).version === 0)
    throw new UsageError(`there is no ledger ${place}`);
}
