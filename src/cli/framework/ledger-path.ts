import type { Config } from '../../config.ts';
import { isPostgres, sqlitePath } from '../../ledger/engine/engine.ts';

/** The path of a SQLite ledger; undefined when the ledger is on PostgreSQL. */
export function ledgerPath({ databaseUrl }: Config): string | undefined {
  return isPostgres(databaseUrl) ? undefined : sqlitePath(databaseUrl);
}
