/**
 * `npm run bench:large-catalogue`: the first responses after a start with 5,000 symbols, ten years of daily bars, and ticks of the
 * last two hours; then ticks of all symbols are pushed.
 */

import { marketOf, tradeDate } from '../src/market/session.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { keepCoresAwake } from './lib/awake.ts';
import { type BenchLedger, ENGINES, newBenchLedger } from './lib/bench-ledger.ts';
import { startProgram } from './lib/openpit.ts';
import { Pauses } from './lib/pauses.ts';
import { cpuSeconds, residentMb, type Target } from './lib/process.ts';
import { report } from './lib/report.ts';

const SYMBOLS = Number(process.env.SYMBOLS ?? 5_000);
const DAYS = Number(process.env.DAYS ?? 2_600);
const TICKS_PER_SYMBOL = 24;
const TICK_EVERY_MS = 5 * 60_000;
const RANDOM_SYMBOLS = 50;
const TICKS_PER_PUSH = 1_000;
const MARKET = 'COMEX';
const TOKEN = 'bench-token-of-the-operator-0123456789';

/** One row of the table: what was done, and what it took. */
type Add = (what: string, figures: Figures, more?: string) => void;

interface Figures {
  ms: number;
  /** Of the service; PostgreSQL is not included. */
  cpuMs: number;
  pauseMs: number;
  idlePauseMs: number;
}

keepCoresAwake();
const rows: string[] = [];
for (const engine of ENGINES) {
  const bench = await newBenchLedger(engine, SYMBOLS);
  try {
    const codes = await fill(bench);
    await measure(bench, codes, (what, { ms, cpuMs, pauseMs, idlePauseMs }, more = '') => {
      const figures = [ms, cpuMs, pauseMs, idlePauseMs].map((one) => `${one.toFixed(0)} ms`).join(' | ');
      rows.push(`| ${engine}, ${what} | ${figures} | ${more} |`);
      console.log(rows.at(-1));
    });
  } finally {
    await bench.remove();
  }
}
await report('large-catalogue', 'A large catalogue', 'npm run bench:large-catalogue', [
  `${SYMBOLS} symbols with ${DAYS} days and ${TICKS_PER_SYMBOL} ticks of the last two hours each. Each row is measured after the one above it, on the same process, which may use both cores. CPU time is that of the service without PostgreSQL.`,
  '',
  '| | elapsed | CPU time | longest pause of the server | of an idle process at the same time | |',
  '|---|---|---|---|---|---|',
  ...rows,
]);

/** Returns the codes of all symbols. */
async function fill({ sql, numbers }: BenchLedger): Promise<string[]> {
  const now = systemClock.now();
  const day = tradeDate(marketOf(MARKET), now);
  await sql.unsafe(`UPDATE symbol SET market = '${MARKET}', real_revision = 1000`);
  await sql.unsafe(`INSERT INTO source (id, name) VALUES (77, 'bench')`);
  await sql.unsafe(`INSERT INTO bar (symbol_id, day, revision, open, high, low, close, source_id, recorded_at)
    SELECT s.id, ${day - DAYS} - 1 + i, 1000, 100 + i % 50, 101 + i % 50, 99 + i % 50, 100.25 + (i + s.id) % 50 / 4.0, 77, 0
    FROM symbol s CROSS JOIN ${numbers(DAYS)}`);
  await sql.unsafe(`INSERT INTO tick (symbol_id, source_id, tick_id, day, at, received, price, revision)
    SELECT s.id, 77, 'id-' || i, ${day}, ${now} - i * ${TICK_EVERY_MS} + s.id, ${now} - i * ${TICK_EVERY_MS} + s.id, 100 + (i + s.id) % 50 / 4.0,
      2000 - i FROM symbol s CROSS JOIN ${numbers(TICKS_PER_SYMBOL)}`);
  await sql.unsafe(`UPDATE counter SET value = 2000 WHERE name = 'prices'`);
  await sql.unsafe('ANALYZE');
  const found = await sql.unsafe(`SELECT code FROM symbol WHERE status = 'active' ORDER BY id`);
  return found.map(({ code }: { code: string }) => code);
}

async function measure(bench: BenchLedger, codes: readonly string[], add: Add): Promise<void> {
  const start = performance.now();
  const target = await startProgram(bench.dir, { ...bench.env, OPENPIT_ADMIN_TOKEN: TOKEN }, '0-1');
  const pauses = await Pauses.watch(target, TOKEN);
  const pid = target.pids[0]!;
  try {
    while (!(await fetch(`${target.url}/health`)).ok) await Bun.sleep(5);
    const ms = performance.now() - start;
    add('ready', { ms, cpuMs: cpuSeconds([pid]) * 1_000, pauseMs: 0, idlePauseMs: 0 });
    const timed = async (what: string, work: () => Promise<string | undefined>) => {
      await pauses.take();
      const cpuBefore = cpuSeconds([pid]);
      const began = performance.now();
      const more = await work();
      const ms = performance.now() - began;
      const cpuMs = (cpuSeconds([pid]) - cpuBefore) * 1_000;
      const { server, idle } = await pauses.take();
      add(what, { ms, cpuMs, pauseMs: server, idlePauseMs: idle }, more);
    };
    let visit = '';
    const ask = async (path: string) => {
      const headers = { 'x-api-key': bench.key, 'accept-encoding': 'gzip' };
      const response = await fetch(`${target.url}${path}`, { headers, decompress: false });
      const { byteLength } = await response.arrayBuffer();
      if (!response.ok) throw new Error(`${path.slice(0, 40)}: status ${response.status}`);
      visit = response.headers.get('openpit-visit') ?? visit;
      return `${(byteLength / 1e6).toFixed(2)} MB`;
    };
    const random = codes.toSorted((a, b) => Bun.hash.crc32(a) - Bun.hash.crc32(b)).slice(0, RANDOM_SYMBOLS);
    const latest = `/rates/latest?symbols=${random.map(encodeURIComponent).join(',')}`;
    await timed(`first \`latest\` of ${RANDOM_SYMBOLS} symbols`, () => ask(latest));
    await timed('first `/market`', () => ask('/market'));
    await timed('second `/market`', () => ask('/market'));
    await Bun.sleep(5_500); // a view is repeated for five seconds
    await timed('`/market/quotes` later', () => ask(`/market/quotes?visit=${visit}`));
    await timed('a tick of each symbol pushed', () => pushAll(target, codes));
    await Bun.sleep(5_500);
    await timed(
      '`/market` after that',
      async () => `${await ask('/market')}, ${residentMb(pid).toFixed(0)} MB in memory`,
    );
  } finally {
    await pauses.stop();
    await target.stop();
  }
}

async function pushAll(target: Target, codes: readonly string[]): Promise<string> {
  const start = performance.now();
  for (let from = 0; from < codes.length; from += TICKS_PER_PUSH) {
    const at = systemClock.now();
    const ticks = codes.slice(from, from + TICKS_PER_PUSH).map((symbol) => ({ symbol, price: 101, at }));
    const response = await fetch(`${target.url}/admin/ticks?source=bench`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(ticks),
    });
    if (!response.ok) throw new Error(await response.text());
  }
  return `${Math.round(codes.length / ((performance.now() - start) / 1_000))} ticks/s`;
}
