/**
 * `npm run bench`: the service against nginx and a bare handler that send the same bytes, and against the same job done the
 * usual way, on one core, interleaved. The table goes to bench/results/. `npm run bench -- latest` runs only the scenarios with this name.
 */
import { HAS_FASTIFY, startFastifyPostgres, startFastifySqlite } from './lib/fastify.ts';
import { GENERATOR, measure, WARM_UP_SECONDS } from './lib/load.ts';
import { HAS_NGINX, startNginx } from './lib/nginx.ts';
import { demoData, startBare, startOpenpit } from './lib/openpit.ts';
import { median, type Target } from './lib/process.ts';
import { report } from './lib/report.ts';
import { checked, SCENARIOS, type Scenario } from './scenarios.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS = Number(process.env.SECONDS ?? 2);
const only = process.argv.slice(2);

interface Row {
  scenario: Scenario;
  /** Requests per CPU-second, median and spread, by target. */
  figures: Map<string, { median: number; low: number; high: number }>;
}

if (!HAS_NGINX)
  console.log('nginx is not installed (apt-get install nginx-light): compared with the bare handler alone.');
if (!HAS_FASTIFY)
  console.log('The reference is not installed (npm ci --prefix bench): compared without Fastify.');
console.log(
  `Load by ${GENERATOR}; ${ROUNDS} rounds of ${SECONDS} s; figures are requests per server CPU-second.\n`,
);

const { target: openpit, key } = await startOpenpit(await demoData());
const usual = HAS_FASTIFY ? [await startFastifySqlite(), await startFastifyPostgres()] : [];
const rows: Row[] = [];
for (const scenario of SCENARIOS) {
  if (only.length > 0 && !only.some((word) => scenario.name.includes(word))) continue;
  rows.push(await compare(scenario));
  console.log(line(rows.at(-1)!));
}
for (const target of [openpit, ...usual]) await target.stop();
await report('speed', 'Speed', 'npm run bench', [
  'The upper bound is nginx on one core, returning the same body with the same headers. The bare handler is `Bun.serve` with a function that returns them. The reference is a Fastify service with schemas that does the same job on a database, with one UPDATE per request; its CPU time includes that of PostgreSQL.',
  '',
  `${ROUNDS} interleaved rounds of ${SECONDS} s after ${WARM_UP_SECONDS} s of warm-up, medians; load by ${GENERATOR}. "≥" and "BELOW" compare a ratio with its target.`,
  '',
  '| Scenario | requests per CPU-second | spread | relative to nginx | relative to a bare Bun handler | relative to Fastify + SQLite | relative to Fastify + PostgreSQL |',
  '|---|---|---|---|---|---|---|',
  ...rows.map(line),
]);

async function compare(scenario: Scenario): Promise<Row> {
  const { request, response, body } = await checked(openpit.url, scenario, key);
  const headers = Object.fromEntries(
    [...response.headers].filter(([name]) => !/^(date|content-length|connection)$/.test(name)),
  );
  const own = [await startBare(body, headers)];
  if (HAS_NGINX && scenario.status === 200) own.push(await startNginx({ '/': { body, headers } }));
  const targets: Target[] = [openpit, ...own, ...(scenario.timesFastify ? usual : [])];
  const samples = targets.map(() => [] as number[]);
  for (const target of targets) await measure(target, request, WARM_UP_SECONDS, scenario.status);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, target] of targets.entries()) {
      const { requestsPerCpuSecond } = await measure(target, request, SECONDS, scenario.status);
      samples[i]!.push(requestsPerCpuSecond);
    }
  }
  for (const target of own) await target.stop();
  const figures = targets.map(({ name }, i): [string, { median: number; low: number; high: number }] => [
    name,
    { median: median(samples[i]!), low: Math.min(...samples[i]!), high: Math.max(...samples[i]!) },
  ]);
  return { scenario, figures: new Map(figures) };
}

function line({ scenario, figures }: Row): string {
  const own = figures.get('openpit')!;
  const ratio = (name: string, least?: number, times = false) => {
    const other = figures.get(name);
    if (!other) return '–';
    const share = own.median / other.median;
    const mark = least === undefined ? '' : share >= least ? ` (≥ ${least})` : ` (BELOW ${least})`;
    return (times ? `${share.toFixed(1)}×` : share.toFixed(2)) + mark;
  };
  const spread = `${Math.round(own.low)}–${Math.round(own.high)}`;
  return `| ${scenario.name} | ${Math.round(own.median)} | ${spread} | ${ratio('nginx', scenario.ofNginx)} | ${ratio('bare Bun handler', scenario.ofBare)} | ${ratio('Fastify + SQLite', scenario.timesFastify, true)} | ${ratio('Fastify + PostgreSQL', undefined, true)} |`;
}
