/**
 * `bun bench/beside-import.ts`: how long an answer takes while `openpit import` loads half a million bars into the ledger of
 * a running server, against the same server at rest. The server has core 0, the import and the client have core 1.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printDay } from '../src/market/day.ts';
import { ROOT, startOpenpit } from './lib/openpit.ts';

const BARS = 500_000;
const PER_SYMBOL = 20_000;
const PAUSE_MS = 5;
const folder = mkdtempSync(join(tmpdir(), 'openpit-bench-beside-'));
process.env.OPENPIT_DEMO = 'true';
const { target, key } = await startOpenpit(folder);

/** Sends requests until stopped. Returns their durations in ms, sorted. */
async function ask(until: Promise<unknown>): Promise<number[]> {
  let isOver = false;
  void until.then(() => {
    isOver = true;
  });
  const times: number[] = [];
  while (!isOver) {
    const start = performance.now();
    // A new URL each time, so that no answer comes from the cache.
    const url = `${target.url}/rates/time-series?symbols=XAU,XAG&startDate=2024-05-01&endDate=2024-05-30&n=${times.length}`;
    await (await fetch(url, { headers: { 'x-api-key': key } })).text();
    times.push(performance.now() - start);
    await Bun.sleep(PAUSE_MS);
  }
  return times.sort((a, b) => a - b);
}

function report(name: string, times: readonly number[]): void {
  const at = (part: number) =>
    `${times[Math.min(times.length - 1, Math.floor(times.length * part))]!.toFixed(1)} ms`;
  console.log(`${name}: ${times.length} answers, median ${at(0.5)}, 99 % ${at(0.99)}, longest ${at(1)}`);
}

async function codes(): Promise<string[]> {
  const answer = await fetch(`${target.url}/symbols`, { headers: { 'x-api-key': key } });
  const { symbols } = (await answer.json()) as { symbols: { symbol: string }[] };
  const all = symbols.map((one) => one.symbol);
  return all.filter((code) => code !== 'XAU' && code !== 'XAG');
}

const known = await codes();
const rows = Array.from({ length: BARS }, (_, i) => {
  const price = 50 + (i % 700) / 100;
  return `${printDay(i % PER_SYMBOL)},${known[Math.floor(i / PER_SYMBOL)]},${price},${price + 1},${price - 1},${price}\n`;
});
const file = join(folder, 'bars.csv');
await Bun.write(file, `date,symbol,open,high,low,close\n${rows.join('')}`);

await ask(Bun.sleep(2_000)); // warm
report('at rest', await ask(Bun.sleep(5_000)));
const command = ['bun', join(ROOT, 'src/main.ts'), 'import', file, '--symbol-column', 'symbol'];
const child = Bun.spawn(Bun.which('taskset') ? ['taskset', '-c', '1', ...command] : command, {
  env: { ...process.env, OPENPIT_DATA_DIR: folder },
  stdout: 'pipe',
});
report('beside an import', await ask(child.exited));
console.log((await new Response(child.stdout).text()).trim());
await target.stop();
rmSync(folder, { recursive: true, force: true });
