/**
 * `npm run bench:retained-ticks -- 34`: a start on PostgreSQL with this many million ticks of two weeks, none of them in a bar yet. The
 * service is stopped in the middle of closing and started again; ticks are pushed all the while.
 */

import { isWeekend, utcDay } from '../src/market/day.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { percentile } from '../test/support/percentile.ts';
import { type BenchLedger, newBenchLedger } from './lib/bench-ledger.ts';
import { startProgram } from './lib/openpit.ts';
import { Pauses } from './lib/pauses.ts';
import type { Target } from './lib/process.ts';
import { report } from './lib/report.ts';

const TICKS = Number(process.argv[2] ?? 34) * 1_000_000;
const SYMBOLS = 100;
const TOKEN = 'bench-token-of-the-operator-0123456789';
const STOP_AFTER_MS = 5_000;
/** What takes longer is reported as unfinished. */
const WORK_MS_MAX = 30 * 60_000;

const bench = await newBenchLedger('PostgreSQL', SYMBOLS);
const lines: string[] = [];
const note = (what: string, found: string) => {
  lines.push(`| ${what} | ${found} |`);
  console.log(lines.at(-1));
};
try {
  const { codes, days } = await fill(bench);
  note('ledger filled with SQL', `${TICKS} ticks of ${SYMBOLS} symbols on ${days} days`);
  const first = await serve(codes, () => Bun.sleep(STOP_AFTER_MS));
  note('start to ready', `${first.readyMs} ms`);
  note('pushes of 100 ticks while closing', first.pushes);
  note('`latest` at the same time', first.requests);
  note(`SIGTERM to exit, after ${STOP_AFTER_MS / 1000} s of closing`, `${first.stopMs} ms`);
  const restart = await serve(codes, () =>
    measure(() => hasAllBars(days), 'restart until every ended day has its bar'),
  );
  note('pushes of 100 ticks while closing', restart.pushes);
  note('`latest` at the same time', restart.requests);
  const [walBefore, ticksBefore] = [await walBytes(), await count('SELECT count(*) AS n FROM tick')];
  let [pruningMs, ticksLeft] = [0, 0];
  const pruning = await serve(codes, async () => {
    pruningMs = await measure(isPruned, 'restart until the days due for pruning are deleted');
    ticksLeft = await count('SELECT count(*) AS n FROM tick');
  });
  note('pushes of 100 ticks while pruning', pruning.pushes);
  note('`latest` at the same time', pruning.requests);
  const deleted = ticksBefore - ticksLeft;
  note(
    'ticks deleted, minus those pushed',
    `${deleted}, ${Math.round(deleted / (pruningMs / 1000))} a second`,
  );
  note('WAL written by PostgreSQL', `${Math.round(((await walBytes()) - walBefore) / 1e6)} MB`);
  const last = await serve(codes, () => Bun.sleep(STOP_AFTER_MS));
  note('start to ready when nothing is left to close', `${last.readyMs} ms`);
} finally {
  await bench.remove();
}
await report('retained-ticks', 'Many retained ticks', 'npm run bench:retained-ticks', [
  'PostgreSQL with durable settings, on the same machine as the service and the load generator.',
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

/** Runs the service while `work` goes on, with a push of 100 ticks every 200 ms and a request every 50 ms. */
async function serve(codes: readonly string[], work: () => Promise<unknown>) {
  const start = performance.now();
  const target = await startProgram(bench.dir, { ...bench.env, OPENPIT_ADMIN_TOKEN: TOKEN });
  while (!(await fetch(`${target.url}/health`)).ok) await Bun.sleep(5);
  const readyMs = Math.round(performance.now() - start);
  const pauses = await Pauses.watch(target, TOKEN);
  let isOver = false;
  const repeat = async (everyMs: number, send: (n: number) => Promise<Response>): Promise<number[]> => {
    const times: number[] = [];
    for (let n = 0; !isOver; n++) {
      const at = performance.now();
      const response = await send(n);
      if (!response.ok) throw new Error(await response.text());
      await response.arrayBuffer();
      times.push(performance.now() - at);
      await Bun.sleep(everyMs);
    }
    return times;
  };
  const load = Promise.all([
    repeat(200, (n) => push(target, codes, n)),
    repeat(50, (n) => latest(target, codes[n % codes.length]!)),
  ]);
  await Promise.race([work(), load]);
  isOver = true;
  const [pushes, requests] = await load;
  const { server, idle } = await pauses.take();
  await pauses.stop();
  const stopAt = performance.now();
  await target.stop();
  const stopMs = Math.round(performance.now() - stopAt);
  return {
    readyMs,
    stopMs,
    pushes: summary(pushes),
    requests: `${summary(requests)}; longest pause ${server.toFixed(0)} ms (of an idle process: ${idle.toFixed(0)} ms)`,
  };
}

function push(target: Target, codes: readonly string[], n: number): Promise<Response> {
  const ticks = codes.map((symbol, i) => {
    return { symbol, price: 105 + ((n + i) % 9) * 0.01, at: systemClock.now() };
  });
  return fetch(`${target.url}/admin/ticks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ source: 'bench', ticks }),
  });
}

function latest(target: Target, code: string): Promise<Response> {
  return fetch(`${target.url}/rates/latest?symbols=${code}`, { headers: { 'x-api-key': bench.key } });
}

function summary(times: readonly number[]): string {
  const at = (share: number) => `${percentile(times, share).toFixed(0)} ms`;
  return `${times.length}: p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`;
}

/** Waits for some work of the service, within limits. Returns how long it took, in ms. */
async function measure(isDone: () => Promise<boolean>, what: string): Promise<number> {
  const start = performance.now();
  const elapsedMs = () => performance.now() - start;
  let done = await isDone();
  while (!done && elapsedMs() < WORK_MS_MAX) {
    await Bun.sleep(1_000);
    done = await isDone();
  }
  note(what, `${done ? '' : 'unfinished after '}${(elapsedMs() / 1000).toFixed(1)} s`);
  return elapsedMs();
}

async function hasAllBars(days: number): Promise<boolean> {
  return (await count('SELECT count(*) AS n FROM bar')) >= SYMBOLS * (days - 1);
}

/**
 * Looks for ticks only when no day is being deleted: on the way to them, PostgreSQL reads the index entries of all that were
 * deleted.
 */
async function isPruned(): Promise<boolean> {
  if ((await count('SELECT count(*) AS n FROM tick_pruning')) > 0) return false;
  const due = utcDay(systemClock.now()) - 9;
  const left = await count(`SELECT count(*) AS n FROM symbol s
    WHERE EXISTS (SELECT 1 FROM tick t WHERE t.symbol_id = s.id AND t.day <= ${due})`);
  return left === 0;
}

function walBytes(): Promise<number> {
  return count(`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS n`);
}

async function count(statement: string): Promise<number> {
  const [row] = await bench.sql.unsafe(statement);
  return Number(row.n);
}
