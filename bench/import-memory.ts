/**
 * `bun bench/import-memory.ts [ROWS…]`: the peak memory of `openpit import` by the number of rows in the file. It must
 * not depend on it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ledger } from '../src/ledger/ledger.ts';
import { printDay } from '../src/market/day.ts';
import { systemClock } from '../src/runtime/clock.ts';

const ROOT = join(import.meta.dir, '..');
const given = process.argv.slice(2).map(Number);

for (const rows of given.length > 0 ? given : [1_000_000, 5_000_000]) {
  const folder = mkdtempSync(join(tmpdir(), 'openpit-bench-memory-'));
  try {
    await measure(rows, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measure(rows: number, folder: string): Promise<void> {
  const file = join(folder, 'prices.csv');
  await writeFile(file, rows, await codesOf(folder));
  const start = performance.now();
  const args = ['import', file, '--symbol-column', 'symbol', '--data-dir', folder];
  const child = Bun.spawn(['bun', 'src/main.ts', ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if ((await child.exited) !== 0) throw new Error('the import failed');
  const seconds = (performance.now() - start) / 1000;
  const peakMb = child.resourceUsage()!.maxRSS / 1e6;
  console.log(`${rows} rows: ${Math.round(peakMb)} MB at most, ${Math.round(seconds)} s`);
}

async function codesOf(folder: string): Promise<string[]> {
  const ledger = await Ledger.open(join(folder, 'openpit.db'), systemClock);
  const symbols = await ledger.symbols.list();
  await ledger.close();
  return symbols.map(({ code }) => code);
}

/** By day and then by symbol, as a dump of a market is: the import has to sort it. */
async function writeFile(file: string, rows: number, codes: readonly string[]): Promise<void> {
  const writer = Bun.file(file).writer();
  writer.write('date,symbol,open,high,low,close\n');
  for (let i = 0; i < rows; i++) {
    const day = -18_000 + Math.floor(i / codes.length); // from 1920 on
    const open = 50 + (i % 977) / 100;
    writer.write(`${printDay(day)},${codes[i % codes.length]},${open},${open + 1},${open - 1},${open}\n`);
    if (i % 10_000 === 0) await writer.flush();
  }
  await writer.end();
}
