/**
 * `npm run bench:formulas`: how long formulas take to be refused, and what a formula of two symbols costs compared with the
 * `latest` of two symbols. The server has core 0, the load generator core 1.
 */
import { loadavg } from 'node:os';
import { percentile } from '../test/support/percentile.ts';
import { measure } from './lib/load.ts';
import { demoData, startOpenpit } from './lib/openpit.ts';
import { median, servingThreadMs } from './lib/process.ts';
import { RawClient } from './lib/raw-client.ts';
import { report } from './lib/report.ts';

const REFUSALS_EACH = 1_000;
const ROUNDS = 5;
const SECONDS = 2;
const RATIO_MAX = 3;

const { target, key } = await startOpenpit(await demoData());
const nested = `${'('.repeat(1_000)}{XAU}${')'.repeat(1_000)}`;
const many = (await codes(60)).map((code) => `{${code}}`).join('%2B');
const refusals = [
  await refusal('division by zero', '{XAU}/0'),
  await refusal('division by zero that depends on prices', '{XAU}/({XAG}-{XAG})'),
  await refusal('60 symbols', many),
  await refusal('10,000 characters', '{XAU}%2B'.repeat(1_250)),
  await refusal('nested 1,000 deep', nested),
];
const ratios = [await compare('never requested before', '&n={n}'), await compare('repeated', '')];
await target.stop();
await report('formulas', 'Formulas', 'npm run bench:formulas', [
  `Invalid formulas in \`/rates/latest?symbols=…\`: time from the request to the end of the response, ${REFUSALS_EACH} requests each, on a server that has just started. CPU time is that of the serving thread: unlike the elapsed time, it does not depend on other load on the machine. Load average: ${loadavg()[0]!.toFixed(0)}.`,
  '',
  '| | status | time, median | p99 | CPU time, first one | median | p99 |',
  '|---|---|---|---|---|---|---|',
  ...refusals,
  '',
  `\`latest\` of \`{XAU}/{XAG}\` and of \`XAU,XAG\`, medians of ${ROUNDS} interleaved rounds of ${SECONDS} s.`,
  '',
  `| | latest × 2, per CPU-second | formula of two symbols, per CPU-second | cost (target: at most ${RATIO_MAX}×) |`,
  '|---|---|---|---|',
  ...ratios,
]);

async function codes(count: number): Promise<string[]> {
  const answer = await fetch(`${target.url}/symbols`, { headers: { 'x-api-key': key } });
  const { symbols } = (await answer.json()) as { symbols: { symbol: string; formula?: string }[] };
  return symbols
    .filter(({ formula }) => !formula)
    .map(({ symbol }) => symbol)
    .slice(0, count);
}

async function refusal(name: string, formula: string): Promise<string> {
  const times: number[] = [];
  const cpuTimes: number[] = [];
  let status = 0;
  for (let i = 0; i < REFUSALS_EACH; i++) {
    const client = await RawClient.connect(target.url); // a URL that is too long closes its connection
    const cpuBefore = servingThreadMs(target.pids[0]!);
    const start = performance.now();
    await client.get(`/rates/latest?symbols=${formula}&n=${i}`, key);
    times.push(performance.now() - start);
    cpuTimes.push(servingThreadMs(target.pids[0]!) - cpuBefore);
    status = client.status;
    client.close();
  }
  if (status < 400) throw new Error(`${name} is answered with ${status}`);
  const first = cpuTimes[0]!;
  const p99 = (all: readonly number[]) => percentile(all, 0.99);
  const cells = [median(times), p99(times), first, median(cpuTimes), p99(cpuTimes)];
  return shown(`| ${name} | ${status} | ${cells.map((ms) => `${ms.toFixed(2)} ms`).join(' | ')} |`);
}

async function compare(name: string, suffix: string): Promise<string> {
  const headers = { 'x-api-key': key };
  const [plain, formula] = ['XAU,XAG', '{XAU}/{XAG}'].map((symbols) => ({
    paths: [`/rates/latest?symbols=${encodeURIComponent(symbols)}${suffix}`],
    headers,
  }));
  const found = { plain: [] as number[], formula: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    found.plain.push((await measure(target, plain!, SECONDS)).requestsPerCpuSecond);
    found.formula.push((await measure(target, formula!, SECONDS)).requestsPerCpuSecond);
  }
  const [own, other] = [median(found.plain), median(found.formula)];
  const cost = own / other;
  return shown(
    `| ${name} | ${own.toFixed(0)} | ${other.toFixed(0)} | ${cost.toFixed(2)}×${cost > RATIO_MAX ? ' MISSED' : ''} |`,
  );
}

function shown(line: string): string {
  console.log(line);
  return line;
}
