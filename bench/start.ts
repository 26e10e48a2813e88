/** `npm run bench:start -- 10`: the time from a start to the first answer, with this many million bars. */
import { rmSync } from 'node:fs';
import { filledLedger } from './lib/filled-ledger.ts';
import { createKey, startProgram } from './lib/openpit.ts';
import { report } from './lib/report.ts';

const SYMBOLS = 131;
const millions = Number(process.argv[2] ?? 10);
const STARTS = 5;

const dir = await filledLedger(SYMBOLS, Math.round((millions * 1_000_000) / SYMBOLS));
const key = createKey(dir);
const day = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
const times: number[] = [];
for (let run = 0; run < STARTS; run++) {
  const start = performance.now();
  const target = await startProgram(dir, { OPENPIT_DEMO: 'false' });
  const answer = await fetch(`${target.url}/rates/historical?symbols=XAU,XAG&date=${day}`, {
    headers: { 'x-api-key': key },
  });
  if (!answer.ok) throw new Error(await answer.text());
  times.push(Math.round(performance.now() - start));
  console.log(`${millions} million bars, start ${run + 1}: first answer after ${times.at(-1)} ms`);
  await target.stop();
}
rmSync(dir, { recursive: true });
await report('start', 'Start', 'npm run bench:start', [
  `Over ${millions} million bars of ${SYMBOLS} symbols, from the command to the first response for two symbols: ${times.join(', ')} ms.`,
  'Symbols are loaded on demand.',
]);
