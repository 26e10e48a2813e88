/**
 * `npm run bench:processes`: whether cores add up. Requests per server CPU-second of one process, and of two that share the
 * port, on the same two cores. The load generator shares them too, so requests per second cannot tell.
 */
import { measure } from './lib/load.ts';
import { createKey, demoData, startProgram } from './lib/openpit.ts';
import { median } from './lib/process.ts';
import { report } from './lib/report.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 9);
const SECONDS = Number(process.env.SECONDS ?? 2);
const PATH = '/rates/latest?symbols=XAU,XAG,PL,PA,HG-SPOT';
const CONNECTIONS = 128;
/** What two processes must do of what one does, for each CPU-second. */
const SHARE_MIN = 0.85;

const dataDir = await demoData();
const request = { paths: [PATH], headers: { 'x-api-key': createKey(dataDir) } };
const targets = [
  await startProgram(dataDir, { OPENPIT_PROCESSES: '1' }, '0-1'),
  await startProgram(dataDir, { OPENPIT_PROCESSES: '2' }, '0-1'),
];
const results = targets.map(() => [] as number[]);
for (let round = 0; round <= ROUNDS; round++) {
  for (const [i, target] of targets.entries()) {
    const { requestsPerCpuSecond } = await measure(target, request, SECONDS, 200, CONNECTIONS, true);
    if (round > 0) results[i]!.push(requestsPerCpuSecond); // the first round warms up
  }
}
for (const target of targets) await target.stop();

const [one, two] = results.map(median) as [number, number];
await report('processes', 'All cores of one machine', 'npm run bench:processes', [
  `\`latest × 5\`, on two cores that the load generator (two threads, ${CONNECTIONS} connections) also uses, medians of ${ROUNDS}:`,
  `one process handles ${Math.round(one)} requests per CPU-second, two on one port handle ${Math.round(two)}: ${(two / one).toFixed(2)} of the rate of one (target: at least ${SHARE_MIN}).`,
]);
process.exit(two / one >= SHARE_MIN ? 0 : 1);
