import type { Clock } from '../runtime/clock.ts';
import { type Engine, isReadOnly, type LedgerUse } from './engine/engine.ts';
import { openPostgres } from './engine/postgres/postgres.ts';
import { openSqlite, openSqliteForReading } from './engine/sqlite/sqlite.ts';

/** `postgres://…` opens PostgreSQL; anything else is the path of a SQLite file, with or without `sqlite://`. */
export function openEngine(url: string, clock: Clock, use: LedgerUse): Promise<Engine> {
  if (isPostgres(url)) return openPostgres(url, use);
  const path = sqlitePath(url);
  return isReadOnly(use) ? openSqliteForReading(path, clock) : openSqlite(path, clock, use);
}

export function sqlitePath(url: string): string {
  return url.replace(/^sqlite:(\/\/)?/, '');
}

export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/** The path of a SQLite ledger; undefined when the ledger is on PostgreSQL. */
export function ledgerPath({ databaseUrl }: { readonly databaseUrl: string }): string | undefined {
  return isPostgres(databaseUrl) ? undefined : sqlitePath(databaseUrl);
}
