/**
 * `npm run bench:move [-- MILLIONS]`: moves a ledger of 5 million bars (or MILLIONS) from SQLite to PostgreSQL and back with
 * `openpit move`, and compares every row of every table of the first and the last file.
 */
import { Database } from 'bun:sqlite';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownPostgres } from '../test/support/postgres.ts';
import { newBenchLedger } from './lib/bench-ledger.ts';
import { ROOT } from './lib/openpit.ts';
import { report } from './lib/report.ts';

const MILLIONS = Number(process.argv[2] ?? 5);
const SYMBOLS = 200;
const DAYS = Math.round((MILLIONS * 1_000_000) / SYMBOLS);
const ACCOUNTS = 10_000;
const TICKS = 200_000;

const source = await newBenchLedger('SQLite', SYMBOLS);
const postgres = await ownPostgres(true);
const folder = mkdtempSync(join(tmpdir(), 'openpit-bench-move-'));
try {
  await fill();
  const lines = [
    `${MILLIONS} million bars of ${SYMBOLS} symbols, ${TICKS.toLocaleString('en-US')} ticks, ${ACCOUNTS.toLocaleString('en-US')} accounts with keys and usage; ` +
      `PostgreSQL with its durable defaults on the same machine.`,
    '',
    '| Move | rows | time, including verification | rows/s | peak memory |',
    '|---|---|---|---|---|',
    await move('SQLite to PostgreSQL', source.url, postgres.url),
    await move('PostgreSQL to SQLite', postgres.url, join(folder, 'openpit.db')),
    '',
    compare(source.url, join(folder, 'openpit.db')),
  ];
  console.log(lines.join('\n'));
  await report('move', 'Moving a ledger', 'npm run bench:move', lines);
} finally {
  await source.remove();
  await postgres.remove();
  rmSync(folder, { recursive: true });
}

/** Bars with corrections and withdrawals, ticks, accounts with keys, and counts that add up. */
async function fill(): Promise<void> {
  const { sql, numbers } = source;
  const bars = `INSERT INTO bar (symbol_id, day, revision, open, high, low, close, source_id, recorded_at, reason, withdrawn)`;
  const price = (i: string) =>
    `50 + (${i} % 977) / 7.0, 60 + (${i} % 977) / 7.0, 40 + (${i} % 977) / 7.0, 50 + (${i} % 971) / 13.0`;
  await sql.begin(async (tx) => {
    await tx.unsafe(`${bars} SELECT 1 + (i - 1) / ${DAYS}, i % ${DAYS} - 5000, 10 + i / 2000, ${price('i')}, 2, 1700000000000 + i, NULL, 0
      FROM ${numbers(SYMBOLS * DAYS)}`);
    const again = (every: number, later: number, reason: string, withdrawn: number) =>
      tx.unsafe(`${bars} SELECT symbol_id, day, revision + ${later}, open, high, low, close + 0.01, source_id, recorded_at + 1,
        '${reason}', ${withdrawn} FROM bar WHERE day % ${every} = 0 AND revision < 1000000`);
    await again(50, 1_000_000, 'correction', 0);
    await again(333, 2_000_000, 'withdrawn by its source', 1);
    await tx.unsafe(`INSERT INTO bar_change (revision, symbol_id, first_day, last_day, recorded_at)
      SELECT revision, symbol_id, min(day), max(day), max(recorded_at) FROM bar GROUP BY revision, symbol_id`);
    await tx.unsafe(`INSERT INTO tick (symbol_id, source_id, tick_id, day, at, received, price, revision)
      SELECT 1 + i % ${SYMBOLS}, 2, 'tick-' || (i * 7919 % ${TICKS}) || '-' || i, 20000 + i % 7, 1728000000000 + i, 1728000000100 + i, i / 3.0, 2000000 + i / 100
      FROM ${numbers(TICKS)}`);
    await tx.unsafe(`INSERT INTO account (id, name, plan, status, created_at, revision)
      SELECT 'acc_' || i, 'Customer "' || i || '", naïve', 'pro', 'active', 1700000000000 + i, 10 + i FROM ${numbers(ACCOUNTS)}`);
    await tx.unsafe(`INSERT INTO api_key (hash, id, account_id, created_at, header_only, revision)
      SELECT 'hash-' || i, 'key_' || i, 'acc_' || i, 1700000000000 + i, i % 2, 20 + i FROM ${numbers(ACCOUNTS)}`);
    await tx.unsafe(`INSERT INTO quota_period (account_id, period, granted, used, barrier, recall_at, signalled_at, notified, folded)
      SELECT 'acc_' || i, 202610, i * 3, i * 3, 0, 0, 0, 0, i * 3 FROM ${numbers(ACCOUNTS)}`);
    for (const [at, endpoint] of ['latest', 'historical', 'symbols'].entries()) {
      await tx.unsafe(`INSERT INTO usage_day (account_id, period, day, endpoint, count)
        SELECT 'acc_' || i, 202610, ${20_740 + at}, '${endpoint}', i FROM ${numbers(ACCOUNTS)}`);
    }
    await tx.unsafe(`UPDATE counter SET value = 3000000`);
  });
}

async function move(title: string, from: string, to: string): Promise<string> {
  const start = performance.now();
  const { stdout, maxRssMb } = await run(['move', '--to', to, '--json'], from);
  const seconds = (performance.now() - start) / 1_000;
  await run(['check'], to);
  const { tables } = JSON.parse(stdout) as { tables: { rows: number }[] };
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const cells = [
    title,
    rows.toLocaleString('en-US'),
    `${Math.round(seconds)} s`,
    Math.round(rows / seconds).toLocaleString('en-US'),
    `${Math.round(maxRssMb)} MB`,
  ];
  return `| ${cells.join(' | ')} |`;
}

async function run(args: readonly string[], ledger: string): Promise<{ stdout: string; maxRssMb: number }> {
  const url = ledger.startsWith('/') ? `sqlite://${ledger}` : ledger;
  const child = Bun.spawn(['bun', 'src/main.ts', ...args], {
    cwd: ROOT,
    env: { ...process.env, OPENPIT_DATABASE_URL: url, OPENPIT_DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stdout = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`openpit ${args.join(' ')} failed`);
  return { stdout, maxRssMb: child.resourceUsage()!.maxRSS / 1e6 };
}

/** By SQLite itself, not by the checksums of the program. */
function compare(first: string, last: string): string {
  const database = new Database(first, { readonly: true });
  database.run('ATTACH ? AS moved', [last]);
  const tables = database
    .query<{ name: string }, []>(
      `SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
    )
    .all();
  for (const { name } of tables) {
    const where = name === 'meta' ? `WHERE name <> 'epoch'` : '';
    for (const [a, b] of [
      ['main', 'moved'],
      ['moved', 'main'],
    ]) {
      const missing = database
        .query<{ n: number }, []>(
          `SELECT count(*) AS n FROM (SELECT * FROM ${a}.${name} ${where} EXCEPT SELECT * FROM ${b}.${name})`,
        )
        .get()!;
      if (missing.n > 0) throw new Error(`${missing.n} rows of ${a}.${name} are not in ${b}.${name}`);
    }
  }
  database.close();
  const mb = [first, last].map((file) => Math.round(statSync(file).size / 1e6));
  return `After moving back, all ${tables.length} tables have the same rows as before, compared by SQLite (\`EXCEPT\` in both directions). The file had ${mb[0]} MB and has ${mb[1]} MB.`;
}
