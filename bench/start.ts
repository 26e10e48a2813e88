/** `npm run bench:start -- 1200000`: the time from a start to the first answer, over so many bars. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/clock.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { createKey, startProgram } from './lib/openpit.ts';

const BARS = Number(process.argv[2] ?? 1_200_000);
const LAST_DAY = 20_700;

const dir = mkdtempSync(join(tmpdir(), 'openpit-bench-start-'));
const ledger = await Ledger.open(join(dir, 'openpit.db'), systemClock);
const symbols = await ledger.symbols.list();
const perSymbol = Math.ceil(BARS / symbols.length);
for (const { id } of symbols) {
  const bars = Array.from({ length: perSymbol }, (_, i) => {
    const price = 100 + (i % 50) / 4;
    return {
      symbolId: id,
      day: LAST_DAY - perSymbol + i,
      open: price,
      high: price + 1,
      low: price - 1,
      close: price,
    };
  });
  await ledger.bars.publish(bars, { source: 'bench', recordedAt: 0 });
}
await ledger.close();

const key = createKey(dir);
for (let run = 1; run <= 3; run++) {
  const start = performance.now();
  const target = await startProgram(dir);
  const path = '/rates/historical?symbols=XAU,XAG&date=2026-08-01';
  const answer = await fetch(target.url + path, { headers: { 'x-api-key': key } });
  if (!answer.ok) throw new Error(await answer.text());
  console.log(
    `${perSymbol * symbols.length} bars, start ${run}: first answer after ${Math.round(performance.now() - start)} ms`,
  );
  const all = await fetch(`${target.url}/symbols`, { headers: { 'x-api-key': key } });
  await all.text();
  console.log(`  all symbols listed after ${Math.round(performance.now() - start)} ms`);
  await target.stop();
}
