/**
 * `bun bench/export.ts [symbols] [days] [format]`: memory and speed of `openpit export`, by default of 20 million bars, and of a
 * tenth of them for comparison, as CSV and Parquet or as one of them. The ledger is SQLite.
 */
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { filledLedger } from './lib/filled-ledger.ts';
import { ROOT } from './lib/openpit.ts';

const [symbols = 1_000, days = 20_000] = process.argv.slice(2, 4).map(Number);
const formats = process.argv[4] ? [process.argv[4]] : ['csv', 'parquet'];
const SECONDS_MAX = 900;

/** The highest resident memory of a process so far, in MB. */
async function peakMemory(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

async function measure(folder: string, format: string, rows: number): Promise<void> {
  const file = join(folder, `export.${format}`);
  const child = Bun.spawn(['bun', join(ROOT, 'src/main.ts'), 'export', '--data-dir', folder, '-o', file], {
    stdout: 'ignore',
    stderr: 'pipe',
  });
  const deadline = setTimeout(() => child.kill(), SECONDS_MAX * 1000);
  const start = performance.now();
  let peak = 0;
  let isOver = false;
  void child.exited.then(() => {
    isOver = true;
  });
  while (!isOver) {
    peak = Math.max(peak, await peakMemory(child.pid).catch(() => 0));
    await Bun.sleep(100);
  }
  clearTimeout(deadline);
  const seconds = (performance.now() - start) / 1000;
  if (child.exitCode !== 0) throw new Error(`export failed: ${await new Response(child.stderr).text()}`);
  const megabytes = statSync(file).size / 1e6;
  console.log(
    `| ${format} | ${rows.toLocaleString('en')} | ${seconds.toFixed(0)} s | ${Math.round(rows / seconds).toLocaleString('en')} | ${megabytes.toFixed(0)} MB | ${peak.toFixed(0)} MB |`,
  );
  rmSync(file);
}

console.log('| Format | Bars | Time | Bars per second | File | Peak memory |');
console.log('|---|---|---|---|---|---|');
for (const count of [days / 10, days]) {
  const folder = await filledLedger(symbols, count);
  for (const format of formats) await measure(folder, format, symbols * count);
  rmSync(folder, { recursive: true, force: true });
}
