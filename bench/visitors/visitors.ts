/**
 * `npm run bench:visitors`: what customers notice while many people open the public page. Customers send their requests on a
 * timetable, alone and beside the visitors, in interleaved rounds. Fewer visits for a quick check: `VISITS=200 ADDRESSES=20`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { percentile } from '../../test/support/percentile.ts';
import { keepCoresAwake } from '../lib/awake.ts';
import { createKey, startProgram } from '../lib/openpit.ts';
import { median, type Target } from '../lib/process.ts';
import { record } from '../lib/recorded.ts';
import { report } from '../lib/report.ts';
import { sendOnSchedule } from '../lib/send-on-schedule.ts';

const VISITS = Number(process.env.VISITS ?? 10_000);
const ADDRESSES = Number(process.env.ADDRESSES ?? 1_000);
const ROUNDS = Number(process.env.ROUNDS ?? 4);
const VISITS_PER_SECOND = Number(process.env.VISITS_PER_SECOND ?? 80);
/** Rounds without visitors are shorter, so that the benchmark takes less than three minutes. */
const ALONE_SECONDS = 8;
const CUSTOMER_REQUESTS_PER_SECOND = 200;
const CUSTOMER_PATHS = ['XAU', 'XAG', 'CORN', 'WTIOIL-FUT'].map((code) => `/rates/latest?symbols=${code}`);

interface Visited {
  statuses: Record<string, number>;
  units: number;
  seconds: number;
}

keepCoresAwake();
const dir = mkdtempSync(join(tmpdir(), 'openpit-visitors-'));
const key = createKey(dir);
const target = await startProgram(dir, {
  OPENPIT_DEMO: 'true',
  OPENPIT_PUBLIC_PLAN: 'free',
  OPENPIT_TRUSTED_PROXIES: '127.0.0.1',
});
try {
  await compare(target);
} finally {
  await target.stop();
  rmSync(dir, { recursive: true, force: true });
}
process.exit(0);

async function compare({ url }: Target): Promise<void> {
  const paths = CUSTOMER_PATHS.map((path) => ({ path, key }));
  const { file } = await record(join(dir, 'customers'), paths);
  const perRound = Math.ceil(VISITS / ROUNDS);
  const seconds = Math.ceil(perRound / VISITS_PER_SECOND);
  const ask = (forSeconds: number) => sendOnSchedule(url, file, CUSTOMER_REQUESTS_PER_SECOND, forSeconds);
  console.error('loading the histories');
  await openPage(url, Math.min(20, perRound));
  const alone: Float64Array[] = [];
  const beside: Float64Array[] = [];
  const visited: Visited[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    console.error(
      `round ${round + 1} of ${ROUNDS}: alone for ${ALONE_SECONDS} s, then beside ${perRound} visits`,
    );
    alone.push(timesOf(await ask(Math.min(ALONE_SECONDS, seconds))));
    const [asked, opened] = await Promise.all([ask(seconds), openPage(url, perRound)]);
    beside.push(timesOf(asked));
    visited.push(opened);
    console.error(
      `  p99 ${percentile(alone.at(-1)!, 0.99).toFixed(2)} ms and ${percentile(beside.at(-1)!, 0.99).toFixed(2)} ms`,
    );
  }
  await print(alone, beside, visited, await usedByPublicAccount(url));
}

async function openPage(url: string, visits: number): Promise<Visited> {
  const options = JSON.stringify({ url, visits, addresses: ADDRESSES, perSecond: VISITS_PER_SECOND });
  // At a lower priority than the customer whose times are taken.
  const command = [
    'nice',
    '-n',
    '10',
    'taskset',
    '-c',
    '1',
    'bun',
    join(import.meta.dir, 'visits.ts'),
    options,
  ];
  const client = Bun.spawn(command, { stdout: 'pipe' });
  return JSON.parse(await new Response(client.stdout).text()) as Visited;
}

function timesOf({ times, isWhole }: { times: Float64Array; isWhole: boolean }): Float64Array {
  if (!isWhole) throw new Error('some requests of customers were refused');
  return times;
}

async function usedByPublicAccount(url: string): Promise<number> {
  const { given } = (await (await fetch(`${url}/console/config`)).json()) as { given: { key: string } };
  const usage = await fetch(`${url}/usage`, { headers: { 'x-api-key': given.key } });
  return ((await usage.json()) as { used: number }).used;
}

async function print(
  alone: readonly Float64Array[],
  beside: readonly Float64Array[],
  visited: readonly Visited[],
  used: number,
): Promise<void> {
  const row = (rounds: readonly Float64Array[]) =>
    [0.5, 0.99]
      .map((part) => `${median(rounds.map((times) => percentile(times, part))).toFixed(2)} ms`)
      .join(' | ');
  const statuses: Record<string, number> = {};
  for (const one of visited) {
    for (const [status, count] of Object.entries(one.statuses))
      statuses[status] = (statuses[status] ?? 0) + count;
  }
  const units = visited.reduce((sum, one) => sum + one.units, 0);
  const counts = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  await report('visitors', 'Visitors to the public page', 'npm run bench:visitors', [
    `${VISITS} visits from ${ADDRESSES} addresses, ${VISITS_PER_SECOND} a second, each to the market and two symbols, on the plan \`free\`. Meanwhile a customer sends \`latest\`, ${CUSTOMER_REQUESTS_PER_SECOND} times a second. Medians of ${ROUNDS} interleaved rounds.`,
    '',
    '| requests from the customer | p50 | p99 |',
    '|---|---|---|',
    `| alone | ${row(alone)} |`,
    `| during the visits | ${row(beside)} |`,
    '',
    `Responses to visitors: ${counts.join(', ')}; ${units} units. The account of the public key has used ${used} of its 1,000.`,
  ]);
}
