import type { Config } from '../../config.ts';

/** The path of a SQLite ledger; undefined when the ledger is on PostgreSQL. */
export function ledgerPath({ databaseUrl }: Config): string | undefined {
  return /^postgres(ql)?:/.test(databaseUrl) ? undefined : databaseUrl.replace(/^sqlite:(\/\/)?/, '');
}
