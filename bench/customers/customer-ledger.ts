import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashKey } from '../../src/gate/key.ts';
import { insertRows } from '../../src/ledger/engine/statements.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { utcDay } from '../../src/market/day.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { ownPostgres } from '../../test/support/postgres.ts';
import { demoData, startProgram } from '../lib/openpit.ts';
import { type BenchCustomer, population } from './population.ts';

/** A ledger with the demo's prices and its customers. */
export interface CustomerLedger {
  dir: string;
  url: string;
  /** Of the service that is to run on it. */
  env: Record<string, string>;
  customers: BenchCustomer[];
  /** The number of leases that were ever created. */
  leaseCount(): Promise<number>;
  remove(): Promise<void>;
}

const ROWS_PER_WRITE = 5_000;

/** The demo's codes by popularity: these first, then the others as the catalogue lists them. */
const POPULAR = ['XAU', 'XAG', 'PL', 'PA', 'HG-SPOT'];

export async function customerLedger(
  engine: 'SQLite' | 'PostgreSQL',
  accounts: number,
  plan: 'customers' | 'unlimited' = 'customers',
): Promise<CustomerLedger> {
  const dir = mkdtempSync(join(tmpdir(), 'openpit-bench-customers-'));
  const server = engine === 'PostgreSQL' ? await ownPostgres(true) : undefined;
  const url = server?.url ?? join(dir, 'openpit.db');
  const env = { OPENPIT_DEMO: 'true', ...(server && { OPENPIT_DATABASE_URL: url }) };
  if (server)
    await (await startProgram(dir, env)).stop(); // loads the demo's prices
  else cpSync(join(await demoData(), 'openpit.db'), url);
  const ledger = await Ledger.open(url, systemClock, 'serving'); // migrates the demo's ledger
  const rows = await ledger.engine.read`SELECT code FROM symbol
    WHERE EXISTS (SELECT 1 FROM bar WHERE bar.symbol_id = symbol.id) ORDER BY code`;
  const priced = new Set(rows.map(({ code }) => String(code))); // the demo's ledger may be older than the catalogue
  const codes = (await ledger.symbols.list())
    .map(({ code }) => code)
    .filter((code) => isServed(code, priced));
  const byPopularity = [...POPULAR, ...codes.filter((code) => !POPULAR.includes(code))];
  const customers = population(accounts, byPopularity, utcDay(systemClock.now()));
  await insertCustomers(ledger, customers, plan);
  await ledger.close();
  return {
    dir,
    url,
    env,
    customers,
    async leaseCount() {
      const opened = await Ledger.open(url, systemClock);
      const [row] = await opened.engine.read`SELECT count(*) AS n FROM quota_lease`;
      await opened.close();
      return Number(row!.n);
    },
    async remove() {
      await server?.remove();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Exchange rates are symbols of the ledger, but are not served. */
function isServed(code: string, priced: ReadonlySet<string>): boolean {
  return priced.has(code) && !code.includes('/');
}

async function insertCustomers(
  ledger: Ledger,
  customers: readonly BenchCustomer[],
  plan: string,
): Promise<void> {
  const model = (await ledger.plans.list()).find(({ name }) => name === 'pro')!;
  await ledger.plans.set({ ...model, name: 'customers', quota: 1_000_000, burstPerSecond: 1_000 });
  const { engine } = ledger;
  const createdAt = systemClock.now();
  for (let from = 0; from < customers.length; from += ROWS_PER_WRITE) {
    const rows = customers.slice(from, from + ROWS_PER_WRITE);
    await engine.write(async (tx) => {
      const accounts = rows.map(({ accountId }) => [accountId, accountId, plan, 'active', createdAt, 0]);
      await insertRows(engine, tx, 'account (id, name, plan, status, created_at, revision)', accounts);
      const keys = rows.map(({ accountId, key }) => [hashKey(key), `key_${accountId}`, accountId, 0, 0, 0]);
      await insertRows(engine, tx, 'api_key (hash, id, account_id, created_at, header_only, revision)', keys);
    });
  }
}
