/**
 * `npm run bench:push`: how many ticks per second are stored and acknowledged. Single ticks from 50 clients at once, and a backfill in
 * requests of 5,000 ticks of many days, before ticks of today. CPU time is that of the service and of PostgreSQL together.
 */

import { join } from 'node:path';
import { utcDay } from '../src/market/day.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { type BenchLedger, ENGINES, newBenchLedger } from './lib/bench-ledger.ts';
import { ROOT, startProgram } from './lib/openpit.ts';
import { PostgresWatch } from './lib/postgres.ts';
import { cpuSeconds, type Target } from './lib/process.ts';
import { report } from './lib/report.ts';

const CLIENTS = 50;
const SECONDS = Number(process.env.SECONDS ?? 10);
const SYMBOLS = 100;
const DAYS = 250;
const BACKFILL_TICKS = Number(process.env.TICKS ?? 200_000);
const TICKS_PER_REQUEST = 5_000;
const TOKEN = 'bench-token-of-the-operator-0123456789';

interface PushedTick {
  symbol: string;
  price: number;
  at: number;
}

/** The order in which a backfill sends its ticks. */
type Order = 'day by day' | 'symbol by symbol' | 'shuffled';
const ORDERS: readonly Order[] = ['day by day', 'symbol by symbol', 'shuffled'];

const singles: string[] = [];
const backfills: string[] = [];
for (const engine of ENGINES) {
  await onNewLedger(engine, async (bench, target, codes) => {
    await single(bench, target, codes, 2); // warms up
    const { accepted, wallSeconds, cpu, p50, p99 } = await single(bench, target, codes, SECONDS);
    const [perSecond, perCpuSecond] = [accepted / wallSeconds, accepted / cpu].map(Math.round);
    singles.push(`| ${engine} | ${perSecond} | ${perCpuSecond} | ${p50} ms | ${p99} ms |`);
    console.log(singles.at(-1));
  });
  for (const order of ORDERS) {
    await onNewLedger(engine, async (bench, target, codes) => {
      const { wallSeconds, cpu, longestMs } = await backfill(bench, target, codes, order);
      const [perSecond, perCpuSecond] = [BACKFILL_TICKS / wallSeconds, BACKFILL_TICKS / cpu].map(Math.round);
      backfills.push(`| ${engine}, ${order} | ${perSecond} | ${perCpuSecond} | ${longestMs} ms |`);
      console.log(backfills.at(-1));
    });
  }
}

await report('push', 'Pushed prices', 'npm run bench:push', [
  `Single ticks: ${CLIENTS} clients, each of which sends its next tick when the previous one is acknowledged, for ${SECONDS} s.`,
  'CPU time is that of the service and PostgreSQL together. PostgreSQL and SQLite have durable settings.',
  '',
  '| Single ticks | per second | per CPU-second | p50 | p99 |',
  '|---|---|---|---|---|',
  ...singles,
  '',
  `Backfill: ${BACKFILL_TICKS} ticks of ${SYMBOLS} symbols on ${DAYS} past days, while today has ticks already, in requests of ${TICKS_PER_REQUEST}, one after the other.`,
  '',
  '| Backfill | ticks per second | per CPU-second | slowest request |',
  '|---|---|---|---|',
  ...backfills,
]);

async function onNewLedger(
  engine: (typeof ENGINES)[number],
  measure: (bench: BenchLedger, target: Target, codes: readonly string[]) => Promise<void>,
): Promise<void> {
  const bench = await newBenchLedger(engine, SYMBOLS);
  try {
    await bench.sql.unsafe(`UPDATE symbol SET market = 'SPOT'`);
    const rows = await bench.sql.unsafe(
      `SELECT code FROM symbol WHERE status = 'active' ORDER BY id LIMIT ${SYMBOLS}`,
    );
    const target = await startProgram(bench.dir, { ...bench.env, OPENPIT_ADMIN_TOKEN: TOKEN }, '0-1');
    try {
      while (!(await fetch(`${target.url}/health`)).ok) await Bun.sleep(5);
      await measure(
        bench,
        target,
        rows.map((row: { code: string }) => row.code),
      );
    } finally {
      await target.stop();
    }
  } finally {
    await bench.remove();
  }
}

async function single(bench: BenchLedger, target: Target, codes: readonly string[], seconds: number) {
  const options = JSON.stringify({ url: target.url, token: TOKEN, codes, clients: CLIENTS, seconds });
  return measured(bench, target, async () => {
    const client = Bun.spawn(['bun', join(ROOT, 'bench/lib/push-client.ts'), options], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const found = JSON.parse(await client.stdout.text()) as { accepted: number; p50: number; p99: number };
    return { accepted: found.accepted, p50: found.p50.toFixed(1), p99: found.p99.toFixed(1) };
  });
}

async function backfill(bench: BenchLedger, target: Target, codes: readonly string[], order: Order) {
  await push(
    target,
    codes.map((symbol) => ({ symbol, price: 100, at: systemClock.now() })),
  );
  const ticks = history(codes, order);
  return measured(bench, target, async () => {
    let longestMs = 0;
    for (let from = 0; from < ticks.length; from += TICKS_PER_REQUEST) {
      const start = performance.now();
      await push(target, ticks.slice(from, from + TICKS_PER_REQUEST));
      longestMs = Math.max(longestMs, Math.round(performance.now() - start));
    }
    return { longestMs };
  });
}

/** Past days, the oldest first: an equal number of ticks for each day and symbol. */
function history(codes: readonly string[], order: Order): PushedTick[] {
  const today = utcDay(systemClock.now());
  const perDay = Math.ceil(BACKFILL_TICKS / DAYS / codes.length);
  const ticks: PushedTick[] = [];
  for (let day = today - DAYS; day < today; day++) {
    for (let n = 0; n < perDay; n++) {
      for (const [i, symbol] of codes.entries()) {
        const at = day * 86_400_000 + Math.floor((n * 86_000_000) / perDay) + i;
        ticks.push({ symbol, price: 100 + ((n * 7 + i + day) % 97) / 100, at });
      }
    }
  }
  ticks.length = BACKFILL_TICKS;
  if (order === 'symbol by symbol') ticks.sort((a, b) => (a.symbol < b.symbol ? -1 : 1) || a.at - b.at);
  if (order === 'shuffled') ticks.sort((a, b) => hash(a) - hash(b));
  return ticks;
}

function hash({ symbol, at }: PushedTick): number {
  return Bun.hash.crc32(`${symbol} ${at}`);
}

async function push(target: Target, ticks: readonly PushedTick[]): Promise<void> {
  const response = await fetch(`${target.url}/admin/ticks?source=bench`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(ticks),
  });
  const { accepted, results } = (await response.json()) as { accepted?: number; results: unknown[] };
  if (accepted !== ticks.length) throw new Error(JSON.stringify(results?.slice(0, 3) ?? response.status));
}

async function measured<T>(bench: BenchLedger, target: Target, work: () => Promise<T>) {
  const watch = bench.engine === 'PostgreSQL' ? await PostgresWatch.open(bench.url) : undefined;
  const cpuNow = async () => cpuSeconds(target.pids) + ((await watch?.done())?.cpuSeconds ?? 0);
  const [start, cpuBefore] = [performance.now(), await cpuNow()];
  const result = await work();
  const found = {
    ...result,
    wallSeconds: (performance.now() - start) / 1_000,
    cpu: (await cpuNow()) - cpuBefore,
  };
  await watch?.close();
  return found;
}
