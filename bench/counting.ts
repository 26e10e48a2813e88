/** `npm run bench:counting`: what exact counting costs, as requests per server CPU-second with and without it. */
import { measure } from './lib/load.ts';
import { demoData, startMode } from './lib/openpit.ts';
import { median } from './lib/process.ts';
import { report } from './lib/report.ts';

const ROUNDS = 9;
const SECONDS = 2;
const PATH = '/rates/latest?symbols=XAU,XAG,PL,PA,HG-SPOT';

const dataDir = await demoData();
const modes = [await startMode(dataDir, 'counted'), await startMode(dataDir, 'uncounted')] as const;
const results = modes.map(() => [] as number[]);
for (let round = 0; round <= ROUNDS; round++) {
  for (const [i, { target, key }] of modes.entries()) {
    const { requestsPerCpuSecond } = await measure(
      target,
      { paths: [PATH], headers: { 'x-api-key': key } },
      SECONDS,
    );
    if (round > 0) results[i]!.push(requestsPerCpuSecond); // the first round warms up
  }
}
for (const { target } of modes) await target.stop();

const [counted, uncounted] = results.map(median) as [number, number];
await report('counting', 'What exact counting costs', 'npm run bench:counting', [
  `\`latest × 5\` with the meter: ${Math.round(counted)} requests per CPU-second; without the meter: ${Math.round(uncounted)}.`,
  `Counting costs ${((1 - counted / uncounted) * 100).toFixed(1)} % (medians of ${ROUNDS} interleaved rounds).`,
]);
