/**
 * `npm run bench:import`: a million bars by the path of `openpit import`, against the engine's own bulk load of the same
 * rows. CPU time is compared, not the clock: other work on the machine changes the clock.
 */
import { Database } from 'bun:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { stageFile } from '../src/feeds/import/stage-file.ts';
import { Staging } from '../src/feeds/import/staging.ts';
import { asNumber, type Sql, typed } from '../src/ledger/engine/rows.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import type { NewBar } from '../src/ledger/prices/bars.ts';
import { printDay } from '../src/market/day.ts';
import { marketOf } from '../src/market/session.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { newDatabase, stopPostgres } from '../test/support/postgres.ts';
import { cpuSeconds, median } from './lib/process.ts';

const BARS = Number(process.env.OPENPIT_BENCH_BARS ?? 1_000_000);
const PER_SYMBOL = 10_000;
const PER_TRANSACTION = 2_000;
const ROUNDS = 3;
const folder = mkdtempSync(join(tmpdir(), 'openpit-bench-import-'));

interface Run {
  cpu: number;
  wall: number;
}

/** CPU of this process and of the database's, where it has some. */
async function timed(pids: () => Promise<number[]>, work: () => Promise<void> | void): Promise<Run> {
  const before = new Map((await pids()).map((pid) => [pid, cpuSeconds([pid])]));
  const own = process.cpuUsage();
  const start = performance.now();
  await work();
  const wall = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(own);
  let cpu = (user + system) / 1e6;
  for (const pid of await pids()) cpu += cpuSeconds([pid]) - (before.get(pid) ?? 0);
  return { cpu, wall };
}

const noPids = async (): Promise<number[]> => [];

function makeBars(symbolIds: readonly number[]): NewBar[] {
  const bars: NewBar[] = [];
  for (let i = 0; i < BARS; i++) {
    const close = Math.round((50 + 20 * Math.sin(i / 700)) * 100) / 100;
    const day = 10_000 + (i % PER_SYMBOL);
    const symbolId = symbolIds[Math.floor(i / PER_SYMBOL) % symbolIds.length]!;
    bars.push({ symbolId, day, open: close - 0.1, high: close + 0.25, low: close - 0.3, close });
  }
  return bars;
}

const COLUMNS = 'symbol_id, day, revision, open, high, low, close, source_id, recorded_at, reason';
const TABLE = `CREATE TABLE bar (symbol_id INTEGER NOT NULL, day INTEGER NOT NULL, revision BIGINT NOT NULL,
  open DOUBLE PRECISION NOT NULL, high DOUBLE PRECISION NOT NULL, low DOUBLE PRECISION NOT NULL,
  close DOUBLE PRECISION NOT NULL, source_id INTEGER NOT NULL, recorded_at BIGINT NOT NULL, reason TEXT,
  PRIMARY KEY (symbol_id, day, revision))`;

/** SQLite as fast as it goes in the same steps: one prepared statement, a transaction for each 2,000 rows. */
function bulkSqlite(round: number, read: () => readonly NewBar[]): Promise<Run> {
  const db = new Database(join(folder, `bulk-${round}.db`));
  db.run('PRAGMA journal_mode = WAL');
  db.run('PRAGMA synchronous = NORMAL');
  db.run(`${TABLE} WITHOUT ROWID`);
  const insert = db.prepare(`INSERT INTO bar (${COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?)`);
  const some = db.transaction((bars: readonly NewBar[], from: number, revision: number) => {
    for (let i = from; i < Math.min(from + PER_TRANSACTION, bars.length); i++) {
      const { symbolId, day, open, high, low, close } = bars[i]!;
      insert.run(symbolId, day, revision, open, high, low, close, 2, 1_700_000_000_000, null);
    }
  });
  return timed(noPids, () => {
    const bars = read();
    for (let from = 0; from < bars.length; from += PER_TRANSACTION) {
      some(bars, from, from / PER_TRANSACTION + 1);
    }
    db.close();
  });
}

/** PostgreSQL as fast as it goes in the same steps: COPY, a transaction for each 2,000 rows. */
async function bulkPostgres(bars: readonly NewBar[]): Promise<Run> {
  const sql = new SQL({ url: await newDatabase(), max: 1 });
  await sql.unsafe(TABLE);
  const run = await timed(
    () => postgresPids(typed(sql)),
    async () => {
      for (let from = 0; from < bars.length; from += PER_TRANSACTION) {
        const lines = bars
          .slice(from, from + PER_TRANSACTION)
          .map((b) => `${b.symbolId},${b.day},1,${b.open},${b.high},${b.low},${b.close},2,1700000000000,\n`);
        await sql.begin(async (tx) => {
          const writer = tx.unsafe(`COPY bar (${COLUMNS}) FROM STDIN (FORMAT csv)`).writable().getWriter();
          await writer.write(lines.join(''));
          await writer.close();
        });
      }
    },
  );
  await sql.close();
  return run;
}

/** The ledger's own way. */
async function publish(
  url: string,
  read: () => readonly NewBar[],
  pids: (ledger: Ledger) => Promise<number[]>,
) {
  const ledger = await Ledger.open(url, systemClock);
  const run = await timed(
    () => pids(ledger),
    async () => {
      const bars = read();
      const { taken } = await ledger.bars.publish(bars, { source: 'bench', recordedAt: 1_700_000_000_000 });
      if (taken !== bars.length) throw new Error(`${taken} of ${bars.length} bars were taken`);
    },
  );
  await ledger.close();
  return run;
}

/** The server process behind each connection; the pool has up to ten. */
async function postgresPids(sql: Sql): Promise<number[]> {
  const rows = await sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database()`;
  return rows.map((row) => asNumber(row.pid));
}

/** Rows by splitting alone: nothing is checked, and only this one layout is read. */
function simply(csv: string): NewBar[] {
  return csv
    .split('\n')
    .slice(1, -1)
    .map((line) => {
      const [date, symbol, open, high, low, close] = line.split(',') as [string, string, ...string[]];
      return {
        symbolId: Number(symbol.slice(1)),
        day: Date.parse(date) / 86_400_000,
        open: Number(open),
        high: Number(high),
        low: Number(low),
        close: Number(close),
      };
    });
}

async function symbolIds(): Promise<number[]> {
  const ledger = await Ledger.open(join(folder, 'catalogue.db'), systemClock);
  const ids = (await ledger.symbols.list()).map((symbol) => symbol.id);
  await ledger.close();
  return ids;
}

function report(name: string, bulk: readonly Run[], own: readonly Run[]): void {
  const of = (runs: readonly Run[], what: keyof Run) => median(runs.map((run) => run[what]));
  const rate = (seconds: number) => `${Math.round(BARS / seconds).toLocaleString('en')} rows`;
  console.log(
    `${name}: bulk load ${rate(of(bulk, 'cpu'))} per CPU-second, ledger ${rate(of(own, 'cpu'))} per CPU-second:`,
    `${((of(bulk, 'cpu') / of(own, 'cpu')) * 100).toFixed(0)} % of it`,
    `(by the clock ${of(bulk, 'wall').toFixed(1)} s and ${of(own, 'wall').toFixed(1)} s)`,
  );
}

const bars = makeBars(await symbolIds());
const sqlite = { bulk: [] as Run[], own: [] as Run[] };
for (let round = 0; round < ROUNDS; round++) {
  sqlite.bulk.push(await bulkSqlite(round, () => bars));
  sqlite.own.push(await publish(join(folder, `own-${round}.db`), () => bars, noPids));
}
report('SQLite', sqlite.bulk, sqlite.own);

const postgres = { bulk: [] as Run[], own: [] as Run[] };
for (let round = 0; round < (process.env.OPENPIT_BENCH_POSTGRES === 'off' ? 0 : ROUNDS); round++) {
  postgres.bulk.push(await bulkPostgres(bars));
  postgres.own.push(
    await publish(
      await newDatabase(),
      () => bars,
      ({ engine }) => postgresPids(engine.read),
    ),
  );
}
if (postgres.own.length > 0) report('PostgreSQL', postgres.bulk, postgres.own);

/** The same from a file: what `openpit import --symbol-column symbol` does. */
const text = `date,symbol,open,high,low,close\n${bars
  .map((b) => `${printDay(b.day)},S${b.symbolId},${b.open},${b.high},${b.low},${b.close}\n`)
  .join('')}`;
const file = join(folder, 'prices.csv');
await Bun.write(file, text);

/** The id of a symbol is in its code. */
function symbolOf(code: string) {
  return { number: Number(code.slice(1)), code, currency: 'USD', market: marketOf('SPOT') };
}

async function importFile(url: string): Promise<Run> {
  const ledger = await Ledger.open(url, systemClock);
  const run = await timed(noPids, async () => {
    using staging = new Staging();
    const columns = { symbol: 'symbol' };
    const { refused } = await stageFile(file, { columns, now: systemClock.now(), symbolOf }, staging);
    const ids = Array.from({ length: 100_000 }, (_, id) => id);
    let taken = 0;
    for (const some of staging.batches(ids, (remark) => refused.add(remark))) {
      taken += (await ledger.bars.publish(some, { source: 'bench', recordedAt: 1_700_000_000_000 })).taken;
    }
    if (taken !== BARS) throw new Error(`${taken} of ${BARS} bars were taken`);
  });
  await ledger.close();
  return run;
}

const whole = { bulk: [] as Run[], own: [] as Run[] };
for (let round = 0; round < ROUNDS; round++) {
  whole.bulk.push(await bulkSqlite(round + ROUNDS, () => simply(text)));
  whole.own.push(await importFile(join(folder, `whole-${round}.db`)));
}
report('SQLite from CSV, against the simplest reader', whole.bulk, whole.own);
rmSync(folder, { recursive: true });
await stopPostgres();
