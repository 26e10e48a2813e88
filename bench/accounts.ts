/** `npm run bench:accounts`: start time and cost per request with one account and with a million. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { insertRows } from '../src/ledger/engine/statements.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { measure } from './lib/load.ts';
import { createKey, startProgram } from './lib/openpit.ts';
import { median, type Target } from './lib/process.ts';

const COUNT = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = 5;
const PER_WRITE = 5_000;

async function ledgerWith(accounts: number): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'openpit-bench-accounts-'));
  const ledger = await Ledger.open(join(dir, 'openpit.db'), systemClock);
  const gold = (await ledger.symbols.list()).find(({ code }) => code === 'XAU')!;
  const bar = { symbolId: gold.id, day: 20_000, open: 1, high: 1, low: 1, close: 1 };
  await ledger.bars.publish([bar], { source: 'bench', recordedAt: 0 });
  for (let from = 0; from < accounts; from += PER_WRITE) {
    const ids = Array.from({ length: Math.min(PER_WRITE, accounts - from) }, (_, i) => from + i);
    await ledger.engine.write(async (tx) => {
      const { engine } = ledger;
      const own = ids.map((i) => [`acc_${i}`, `Account ${i}`, 'free', 'active', 0, 0]);
      await insertRows(engine, tx, 'account (id, name, plan, status, created_at, revision)', own);
      const keys = ids.map((i) => [`${i}`.padStart(64, '0'), `key_${i}`, `acc_${i}`, 0, 0, 0]);
      await insertRows(engine, tx, 'api_key (hash, id, account_id, created_at, header_only, revision)', keys);
    });
  }
  await ledger.close();
  return dir;
}

const request = (key: string) => ({
  paths: ['/rates/historical?symbols=XAU&date=2024-10-04'],
  headers: { 'x-api-key': key },
});
const runs: { accounts: number; startMs: number; target: Target; key: string; samples: number[] }[] = [];
for (const accounts of [1, COUNT]) {
  const dir = await ledgerWith(accounts);
  const key = createKey(dir);
  const start = performance.now();
  const target = await startProgram(dir);
  runs.push({ accounts, startMs: performance.now() - start, target, key, samples: [] });
}
for (let round = 0; round <= ROUNDS; round++) {
  for (const run of runs) {
    const { requestsPerCpuSecond } = await measure(run.target, request(run.key), 1);
    if (round > 0) run.samples.push(requestsPerCpuSecond);
  }
}
for (const { accounts, startMs, target, samples } of runs) {
  await target.stop();
  console.log(
    `${accounts} accounts: ready after ${Math.round(startMs)} ms, ${Math.round(median(samples))} requests per CPU-second`,
  );
}
