/**
 * `npm run bench:open-day`: the first responses after a start, with a million ticks in the open day of 100 symbols. The ticks are
 * inserted in random order. `longest pause` is what the server reports of its own event loop.
 */

import { utcDay } from '../src/market/day.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { keepCoresAwake } from './lib/awake.ts';
import { type BenchLedger, ENGINES, newBenchLedger } from './lib/bench-ledger.ts';
import { startProgram } from './lib/openpit.ts';
import { Pauses } from './lib/pauses.ts';
import type { Target } from './lib/process.ts';
import { report } from './lib/report.ts';

const TICKS = Number(process.env.TICKS ?? 1_000_000);
const SYMBOLS = 100;
const MINUTE = 60_000;

interface Day {
  name: string;
  /** Whether all ticks were received in the last minute, so that delayed plans do not see them yet. */
  isLate: boolean;
  /** More ticks of one symbol. */
  busyTicks: number;
}

const DAYS: Day[] = [
  { name: 'received through the day', isLate: false, busyTicks: 0 },
  { name: 'received in the last minute', isLate: true, busyTicks: 0 },
  { name: 'received in the last minute, and 100,000 more of one symbol', isLate: true, busyTicks: 100_000 },
];

keepCoresAwake();
const rows: string[] = [];
for (const engine of ENGINES) {
  for (const day of DAYS) {
    const bench = await newBenchLedger(engine, SYMBOLS);
    try {
      const codes = await fill(bench, day);
      const add = async (state: string) => {
        const figures = await measure(bench, codes);
        rows.push(`| ${engine}, ${day.name}${state} | ${figures.join(' | ')} |`);
        console.log(rows.at(-1));
      };
      if (engine === 'SQLite') await add('');
      else {
        await add(', just inserted');
        await bench.sql.unsafe('VACUUM ANALYZE tick'); // what autovacuum does about a minute later
        await add(', vacuumed');
      }
    } finally {
      await bench.remove();
    }
  }
}

await report('open-day', 'Loading an open day', 'npm run bench:open-day', [
  `Starting with ${TICKS} ticks in the open day of ${SYMBOLS} symbols, inserted in random order under hashed ids.`,
  '',
  `| | start to ready | first \`latest\` of a symbol, median | maximum | longest pause of the server | of an idle process at the same time |`,
  '|---|---|---|---|---|---|',
  ...rows,
  '',
  'The first read of newly inserted rows is slower: PostgreSQL looks up whether their transaction was committed, and writes each of their pages to its log. Autovacuum does this in the background and makes index-only scans possible from then on.',
  '',
  'The free plan sees the market an hour late, so ticks of the last hour are loaded one by one; the database folds older ones.',
]);

/** Symbols that trade around the clock have their day open at any time. `busyTicks` belong to the last one. */
async function fill({ sql, numbers }: BenchLedger, { isLate, busyTicks }: Day): Promise<string[]> {
  const now = systemClock.now();
  const day = utcDay(now);
  await sql.unsafe(`UPDATE symbol SET market = 'SPOT'`);
  const found = await sql.unsafe(
    `SELECT id, code FROM symbol WHERE status = 'active' ORDER BY id LIMIT ${SYMBOLS}`,
  );
  const symbols = found.map((row: { id: number; code: string }) => ({ id: Number(row.id), code: row.code }));
  await sql.unsafe(`INSERT INTO source (id, name) VALUES (77, 'bench')`);
  await sql.unsafe(`CREATE TABLE chosen (place INTEGER PRIMARY KEY, id INTEGER NOT NULL)`);
  for (const [place, { id }] of symbols.entries()) await sql`INSERT INTO chosen VALUES (${place}, ${id})`;
  const midnight = day * 86_400_000;
  const span = Math.max(now - midnight - MINUTE, MINUTE);
  const insert = (count: number, place: string, offset: number) =>
    sql.unsafe(`INSERT INTO tick (symbol_id, source_id, tick_id, day, at, received, price, revision)
      SELECT c.id, 77, 'id-' || (i * CAST(7919 AS BIGINT) % 1000003) || '-' || (i + ${offset}), ${day}, ${midnight} + (i * CAST(48271 AS BIGINT) % ${span}),
        ${isLate ? `${now - MINUTE} + i % 50000` : `${midnight} + (i * CAST(48271 AS BIGINT) % ${span}) + 40`},
        100 + (i % 977) * 0.01, 1000 + (i + ${offset}) / 2000
      FROM ${numbers(count)} JOIN chosen c ON c.place = ${place} ORDER BY random()`);
  await insert(TICKS, `i % ${SYMBOLS}`, 0);
  if (busyTicks > 0) await insert(busyTicks, `${SYMBOLS - 1}`, TICKS);
  await sql.unsafe(`DROP TABLE chosen`);
  await sql.unsafe(
    `UPDATE symbol SET real_revision = 1000 WHERE id IN (${symbols.map(({ id }: { id: number }) => id).join(',')})`,
  );
  await sql.unsafe(`UPDATE counter SET value = 10000000 WHERE name = 'prices'`);
  return symbols.map(({ code }: { code: string }) => code);
}

async function measure(bench: BenchLedger, codes: readonly string[]): Promise<string[]> {
  const start = performance.now();
  const target = await startProgram(bench.dir, bench.env, '0-1');
  let pauses: Pauses | undefined;
  try {
    while (!(await fetch(`${target.url}/health`)).ok) await Bun.sleep(5);
    const readyMs = performance.now() - start;
    pauses = await Pauses.watch(target);
    const times: number[] = [];
    for (const code of codes) times.push(await firstLatest(target, code, bench.key));
    const sorted = times.sort((a, b) => a - b);
    const { server, idle } = await pauses.take();
    return [readyMs, sorted[sorted.length >> 1]!, sorted.at(-1)!, server, idle].map(
      (ms) => `${ms.toFixed(0)} ms`,
    );
  } finally {
    await pauses?.stop();
    await target.stop();
  }
}

async function firstLatest(target: Target, code: string, key: string): Promise<number> {
  const start = performance.now();
  const response = await fetch(`${target.url}/rates/latest?symbols=${code}`, {
    headers: { 'x-api-key': key },
  });
  if (!response.ok) throw new Error(await response.text());
  await response.arrayBuffer();
  return performance.now() - start;
}
