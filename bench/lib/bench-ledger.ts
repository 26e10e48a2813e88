import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { createAccount } from '../../src/gate/onboarding.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { ownPostgres } from '../../test/support/postgres.ts';

export const ENGINES = ['SQLite', 'PostgreSQL'] as const;
export type EngineName = (typeof ENGINES)[number];

/** A ledger on one of the engines, with a key and a way to run bulk SQL on it. */
export interface BenchLedger {
  engine: EngineName;
  /** Of the service that is to run on it. */
  env: Record<string, string>;
  dir: string;
  url: string;
  key: string;
  sql: SQL;
  /** A row source `n(i)` with i from 1 to `count`, in any order, for a FROM clause. */
  numbers(count: number): string;
  remove(): Promise<void>;
}

/** A new ledger that has at least this many symbols. PostgreSQL runs with its own durable settings. */
export async function newBenchLedger(engine: EngineName, symbolCount: number): Promise<BenchLedger> {
  const dir = mkdtempSync(join(tmpdir(), 'openpit-bench-'));
  const server = engine === 'PostgreSQL' ? await ownPostgres(true) : undefined;
  const url = server?.url ?? join(dir, 'openpit.db');
  const ledger = await Ledger.open(url, systemClock);
  const known = await ledger.symbols.list();
  const model = known[0]!;
  const more = Array.from({ length: Math.max(0, symbolCount - known.length) }, (_, i) => {
    return { ...model, code: `BENCH-${i}`, name: `Bench ${i}` };
  });
  await ledger.symbols.upsert(more, []);
  const account = { name: 'Bench', plan: 'unlimited' };
  const { issued } = await createAccount(ledger, account, systemClock.now());
  await ledger.close();
  const sql = server ? new SQL({ url, max: 1 }) : new SQL({ adapter: 'sqlite', filename: url });
  if (!server) await sql.unsafe('PRAGMA synchronous = OFF');
  return {
    engine,
    env: { OPENPIT_DEMO: 'false', ...(server && { OPENPIT_DATABASE_URL: url }) },
    dir,
    url,
    key: issued.text,
    sql,
    numbers: (count) =>
      server
        ? `generate_series(1, ${count}) AS n (i)`
        : `(WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ${count}) SELECT i FROM r) AS n`,
    async remove() {
      await sql.close();
      await server?.remove();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
