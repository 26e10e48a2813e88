/**
 * `npm run bench:retained-ticks -- 34`: a start on PostgreSQL with so many million ticks of two weeks, none of them in a bar yet. The
 * service is stopped in the middle of closing and started again; ticks are pushed all the while.
 */

import { isWeekend, utcDay } from '../src/market/day.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { type BenchLedger, newBenchLedger } from './lib/bench-ledger.ts';
import { startProgram } from './lib/openpit.ts';
import { report } from './lib/report.ts';

const TICKS = Number(process.argv[2] ?? 34) * 1_000_000;
const SYMBOLS = 100;
const TOKEN = 'bench-token-of-the-operator-0123456789';
const STOP_AFTER_MS = 5_000;

const bench = await newBenchLedger('PostgreSQL', SYMBOLS);
const lines: string[] = [];
try {
  const { codes, days } = await fill(bench);
  lines.push(`| fill by SQL | ${TICKS} ticks of ${SYMBOLS} symbols on ${days} days |`);
  const first = await serve(codes, () => Bun.sleep(STOP_AFTER_MS));
  lines.push(`| start to ready | ${first.readyMs} ms |`, `| pushes while closing | ${first.pushes} |`);
  lines.push(`| SIGTERM to exit, after ${STOP_AFTER_MS / 1000} s of closing | ${first.stopMs} ms |`);
  const start = performance.now();
  const seconds = () => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  const second = await serve(codes, async () => {
    await until(async () => (await count('SELECT count(*) AS n FROM bar')) >= SYMBOLS * (days - 1));
    lines.push(`| restart until every ended day has its bar | ${seconds()} |`);
    await until(async () => {
      const due = utcDay(systemClock.now()) - 9;
      const left = await count(`SELECT count(*) AS n FROM symbol s
        WHERE EXISTS (SELECT 1 FROM tick t WHERE t.symbol_id = s.id AND t.day <= ${due})`);
      return left === 0 && (await count('SELECT count(*) AS n FROM tick_pruning')) === 0;
    });
    lines.push(`| restart until the days due for pruning are deleted | ${seconds()} |`);
  });
  lines.push(`| pushes while closing and pruning | ${second.pushes} |`);
  const third = await serve(codes, () => Bun.sleep(STOP_AFTER_MS));
  lines.push(`| start to ready when nothing is left to close | ${third.readyMs} ms |`);
  const left = await count('SELECT count(*) AS n FROM tick');
  lines.push(`| ticks left | ${left} |`);
} finally {
  await bench.remove();
}
await report('retained-ticks', 'Many retained ticks', 'npm run bench:retained-ticks', [
  'PostgreSQL with its durable settings, on the same machine as the service and the load.',
  '',
  '| | |',
  '|---|---|',
  ...lines,
]);

async function fill({ sql, numbers }: BenchLedger): Promise<{ codes: string[]; days: number }> {
  const today = utcDay(systemClock.now());
  const days = Array.from({ length: 14 }, (_, i) => today - 13 + i).filter((day) => !isWeekend(day));
  await sql.unsafe(`UPDATE symbol SET market = 'SPOT'`);
  const rows = await sql.unsafe(
    `SELECT id, code FROM symbol WHERE status = 'active' ORDER BY id LIMIT ${SYMBOLS}`,
  );
  const ids = rows.map((row: { id: number }) => Number(row.id));
  await sql.unsafe(`INSERT INTO source (id, name) VALUES (77, 'bench')`);
  // Indexes that are built at the end take a fraction of the time.
  await sql.unsafe(`ALTER TABLE tick DROP CONSTRAINT tick_pkey`);
  for (const name of ['tick_by_day', 'tick_by_revision']) await sql.unsafe(`DROP INDEX ${name}`);
  await sql.unsafe(`SET maintenance_work_mem = '1GB'`);
  const perDay = Math.floor(TICKS / days.length);
  for (const [i, day] of days.entries()) {
    await sql.unsafe(`INSERT INTO tick (symbol_id, source_id, tick_id, day, at, received, price, revision)
      SELECT (ARRAY[${ids.join(',')}])[1 + i % ${SYMBOLS}], 77, md5(i::text || '-${day}'), ${day},
        ${day}::bigint * 86400000 + (i::bigint * 48271 % ${day === today ? 3_600_000 : 86_000_000}),
        ${day}::bigint * 86400000 + (i::bigint * 48271 % ${day === today ? 3_600_000 : 86_000_000}) + 40,
        100 + (i % 977) * 0.01, 1000 + (${i}::bigint * ${perDay} + i) / 2000
      FROM ${numbers(perDay)}`);
    console.log(`filled day ${i + 1} of ${days.length}`);
  }
  await sql.unsafe(`ALTER TABLE tick ADD PRIMARY KEY (symbol_id, source_id, tick_id)`);
  await sql.unsafe(
    `CREATE INDEX tick_by_day ON tick (symbol_id, day, at, source_id, received, price, revision)`,
  );
  await sql.unsafe(`CREATE INDEX tick_by_revision ON tick (revision)`);
  console.log('indexed');
  await sql.unsafe(`UPDATE symbol SET real_revision = 1000 WHERE id IN (${ids.join(',')})`);
  await sql.unsafe(`UPDATE counter SET value = 10000000 WHERE name = 'prices'`);
  await sql.unsafe('VACUUM ANALYZE tick'); // as autovacuum does on a table that has grown
  return { codes: rows.map((row: { code: string }) => row.code), days: days.length };
}

/** Runs the service while `work` goes on, with a push of 100 ticks every 200 ms. */
async function serve(codes: readonly string[], work: () => Promise<void>) {
  const start = performance.now();
  const target = await startProgram(bench.dir, { ...bench.env, OPENPIT_ADMIN_TOKEN: TOKEN });
  while (!(await fetch(`${target.url}/health`)).ok) await Bun.sleep(5);
  const readyMs = Math.round(performance.now() - start);
  const times: number[] = [];
  let isOver = false;
  const pushing = (async () => {
    for (let n = 0; !isOver; n++) {
      const at = performance.now();
      const ticks = codes.map((symbol, i) => ({
        symbol,
        price: 105 + ((n + i) % 9) * 0.01,
        at: systemClock.now(),
      }));
      const response = await fetch(`${target.url}/admin/ticks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ source: 'bench', ticks }),
      });
      if (!response.ok) throw new Error(await response.text());
      times.push(performance.now() - at);
      await Bun.sleep(200);
    }
  })();
  await Promise.race([work(), pushing]);
  isOver = true;
  await pushing;
  const stopAt = performance.now();
  await target.stop();
  const stopMs = Math.round(performance.now() - stopAt);
  times.sort((a, b) => a - b);
  const pushes = `${times.length} of 100 ticks: p50 ${times[times.length >> 1]!.toFixed(0)} ms, longest ${times.at(-1)!.toFixed(0)} ms`;
  return { readyMs, stopMs, pushes };
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await Bun.sleep(500);
}

async function count(statement: string): Promise<number> {
  const [row] = await bench.sql.unsafe(statement);
  return Number(row.n);
}
