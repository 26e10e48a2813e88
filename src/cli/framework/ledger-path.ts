import type { Config } from '../../config.ts';
import { isPostgres, sqlitePath } from '../../ledger/open-engine.ts';

/** The path of a SQLite ledger; undefined when the ledger is on PostgreSQL. */
export function ledgerPath({ databaseUrl }: Config): string | undefined {
  return isPostgres(databaseUrl) ? undefined : sqlitePath(databaseUrl);
}
