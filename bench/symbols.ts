/** `npm run bench:symbols`: the first and the second /symbols with 10,000 symbols, for two plans that differ in their delay. */

import { createAccount } from '../src/gate/onboarding.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { utcDay } from '../src/market/day.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { keepCoresAwake } from './lib/awake.ts';
import { type BenchLedger, ENGINES, newBenchLedger } from './lib/bench-ledger.ts';
import { startProgram } from './lib/openpit.ts';
import { Pauses } from './lib/pauses.ts';
import type { Target } from './lib/process.ts';
import { report } from './lib/report.ts';

const SYMBOLS = Number(process.env.SYMBOLS ?? 10_000);
const DAYS = 200;

keepCoresAwake();
const rows: string[] = [];
for (const engine of ENGINES) {
  const bench = await newBenchLedger(engine, SYMBOLS);
  try {
    const late = await fill(bench);
    const target = await startProgram(bench.dir, bench.env, '0-1');
    const pauses = await Pauses.watch(target);
    try {
      for (const [plan, key] of [
        ['without delay', bench.key],
        ['an hour late', late],
      ] as const) {
        for (const which of ['first', 'second']) {
          for (const encoding of ['identity', 'gzip']) {
            rows.push(
              `| ${engine}, ${plan}, ${which}, ${encoding} | ${await measure(target, pauses, key, encoding)} |`,
            );
            console.log(rows.at(-1));
            await Bun.sleep(1_100); // so that no response of the last second is repeated
          }
        }
      }
    } finally {
      await pauses.stop();
      await target.stop();
    }
  } finally {
    await bench.remove();
  }
}
await report('symbols', 'The list of symbols', 'npm run bench:symbols', [
  `\`/symbols\` with ${SYMBOLS} symbols of ${DAYS} days each and a tick today, after starting.`,
  '',
  '| | response | longest pause of the server | of an idle process at the same time | size |',
  '|---|---|---|---|---|',
  ...rows,
]);

/** Returns a key whose plan is an hour late. */
async function fill({ sql, url, numbers }: BenchLedger): Promise<string> {
  const day = utcDay(systemClock.now());
  await sql.unsafe(`UPDATE symbol SET market = 'SPOT', real_revision = 1000`);
  await sql.unsafe(`INSERT INTO source (id, name) VALUES (77, 'bench')`);
  await sql.unsafe(`INSERT INTO bar (symbol_id, day, revision, open, high, low, close, source_id, recorded_at)
    SELECT s.id, ${day} - i, 1000, 1, 1, 1, 1, 77, 0 FROM symbol s CROSS JOIN ${numbers(DAYS)}`);
  const at = day * 86_400_000;
  await sql.unsafe(`INSERT INTO tick (symbol_id, source_id, tick_id, day, at, received, price, revision)
    SELECT s.id, 77, 'a', ${day}, ${at} + s.id, ${at} + s.id, 1, 1001 FROM symbol s`);
  await sql.unsafe(`UPDATE counter SET value = 1001 WHERE name = 'prices'`);
  await sql.unsafe('ANALYZE');
  const ledger = await Ledger.open(url, systemClock);
  const { issued } = await createAccount(ledger, { name: 'Late', plan: 'free' }, systemClock.now());
  await ledger.close();
  return issued.text;
}

async function measure(target: Target, pauses: Pauses, key: string, encoding: string): Promise<string> {
  await pauses.take();
  const start = performance.now();
  const response = await fetch(`${target.url}/symbols`, {
    headers: { 'x-api-key': key, 'accept-encoding': encoding },
    decompress: false,
  });
  const bytes = (await response.arrayBuffer()).byteLength;
  const ms = performance.now() - start;
  if (!response.ok) throw new Error(`status ${response.status}`);
  const { server, idle } = await pauses.take();
  return `${ms.toFixed(0)} ms | ${server.toFixed(0)} ms | ${idle.toFixed(0)} ms | ${(bytes / 1e6).toFixed(2)} MB`;
}
