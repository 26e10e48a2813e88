/**
 * `npm run bench:fairness`: what other customers notice while 20 of the most expensive requests run at any time, all of one
 * account, on a ledger with a century of 100 symbols. Rounds with and without them are interleaved. Requests of others are sent
 * on a timetable, and timed from when they were due.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { percentile } from '../test/support/percentile.ts';
import { keepCoresAwake } from './lib/awake.ts';
import { type BenchLedger, ENGINES, newBenchLedger } from './lib/bench-ledger.ts';
import { fillCentury, RECORDED } from './lib/century.ts';
import { createKey, startProgram } from './lib/openpit.ts';
import { type Pause, Pauses } from './lib/pauses.ts';
import { median, type Target } from './lib/process.ts';
import { record } from './lib/recorded.ts';
import { report } from './lib/report.ts';
import { sendOnSchedule } from './lib/send-on-schedule.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'openpit-fairness-'));
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS = Number(process.env.SECONDS ?? 4);
const PER_SECOND = 500;
const AT_ONCE = 20;
const DAYS = Number(process.env.DAYS ?? 46_000);
const OTHERS = '/rates/latest?symbols=XAU,XAG,PL,PA,HG-SPOT';

interface Round {
  p50: number;
  p99: number;
  pause: Pause;
}

keepCoresAwake();
const lines: string[] = [];
for (const engine of ENGINES) {
  const bench = await newBenchLedger(engine, 100);
  try {
    lines.push(...(await measure(bench, await fillCentury(bench, 100, DAYS))));
    console.log(lines.join('\n'));
  } finally {
    await bench.remove();
  }
}

await report('fairness', 'Fairness', 'npm run bench:fairness', [
  `Other customers request \`latest × 5\`, ${PER_SECOND} times a second, while one account keeps ${AT_ONCE} requests that read the ledger in progress: a page of \`interval=year\` from 1900 on (HEAD and GET, also in euros), \`historical\` and \`fluctuation\` with \`asOf\`, some of which return \`404\`, and \`revisions\` of the whole history, each of 100 symbols. Medians of ${ROUNDS} interleaved rounds of ${SECONDS} s.`,
  '',
  '| | p50 | p99 | longest event-loop pause (over all rounds) | of an idle process at the same time | ledger requests per second | units charged for them |',
  '|---|---|---|---|---|---|---|',
  ...lines,
  '',
  'Server, client and database share the cores of the machine, which other virtual machines may use, too: the pause of an idle process shows how much.',
]);
rmSync(FOLDER, { recursive: true });
process.exit(0);

async function measure(bench: BenchLedger, codes: readonly string[]): Promise<string[]> {
  const target = await startProgram(bench.dir, bench.env, '0-1');
  const pauses = await Pauses.watch(target);
  try {
    const greedy = createKey(bench.dir, bench.env);
    const paths = worst(codes);
    for (const [method, path] of paths)
      await fetch(target.url + path, { method, headers: { 'x-api-key': greedy } });
    await ask(target, bench.key, pauses);
    const alone: Round[] = [];
    const beside: Round[] = [];
    let done = 0;
    const before = await usedBy(target, greedy);
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(await ask(target, bench.key, pauses));
      const burden = startBurden(target, greedy, paths);
      beside.push(await ask(target, bench.key, pauses));
      done += await burden.stop();
    }
    const units = (await usedBy(target, greedy)) - before;
    const perSecond = (done / (ROUNDS * SECONDS)).toFixed(1);
    return [
      `| ${bench.engine}, alone | ${rowOf(alone)} | – | – |`,
      `| ${bench.engine}, during ${AT_ONCE} of them | ${rowOf(beside)} | ${perSecond} | ${units} for ${done} |`,
    ];
  } finally {
    await pauses.stop();
    await target.stop();
  }
}

function rowOf(rounds: readonly Round[]): string {
  const p50 = median(rounds.map((round) => round.p50));
  const p99 = median(rounds.map((round) => round.p99));
  const server = rounds.map(({ pause }) => pause.server);
  const idle = rounds.map(({ pause }) => pause.idle);
  const pauseOf = (times: number[]) => `${median(times).toFixed(1)} ms (${Math.max(...times).toFixed(1)} ms)`;
  return `${p50.toFixed(2)} ms | ${p99.toFixed(2)} ms | ${pauseOf(server)} | ${pauseOf(idle)}`;
}

/** The most expensive requests that a plan with 100 symbols allows. */
function worst(codes: readonly string[]): [method: string, path: string][] {
  const asOf = `asOf=${RECORDED}T12:00:00Z`;
  const symbols = `symbols=${codes.join(',')}`;
  const century = 'startDate=1900-01-01&endDate=2025-12-31';
  return [
    ['HEAD', `/rates/history?${symbols}&${century}&interval=year&${asOf}`],
    ['GET', `/rates/history?${symbols}&${century}&interval=year&${asOf}`],
    ['GET', `/rates/history?${symbols}&${century}&interval=year&quote=EUR&${asOf}`],
    ['GET', `/rates/historical?${symbols}&date=1900-01-01&${asOf}`],
    ['GET', `/rates/historical?${symbols}&date=2025-12-31&asOf=2025-12-31`],
    ['GET', `/rates/fluctuation?${symbols}&startDate=2000-01-03&endDate=2025-12-31&quote=EUR&${asOf}`],
    ['GET', `/rates/time-series?${symbols}&startDate=2025-12-01&endDate=2025-12-31&${asOf}`],
    ['GET', `/rates/revisions?${symbols}&${century}`],
  ];
}

/** Keeps requests of each kind under way until it is stopped. Gives how many were answered. */
function startBurden(
  target: Target,
  key: string,
  paths: readonly [string, string][],
): { stop(): Promise<number> } {
  let isOver = false;
  let done = 0;
  const client = async (place: number) => {
    for (let n = place; !isOver; n++) {
      const [method, path] = paths[n % paths.length]!;
      const response = await fetch(target.url + path, { method, headers: { 'x-api-key': key } });
      await response.arrayBuffer();
      if (![200, 404].includes(response.status))
        throw new Error(`${response.status} for ${path.slice(0, 60)}`);
      done++;
    }
  };
  const clients = Array.from({ length: AT_ONCE }, (_, place) => client(place));
  return {
    async stop() {
      isOver = true;
      await Promise.all(clients);
      return done;
    },
  };
}

/** What the others get. */
async function ask(target: Target, key: string, pauses: Pauses): Promise<Round> {
  await pauses.take();
  const { file } = await record(join(FOLDER, 'request'), [{ path: OTHERS, key }]);
  const { times, isWhole } = await sendOnSchedule(target.url, file, PER_SECOND, SECONDS);
  if (!isWhole) throw new Error('some requests of others were refused');
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99), pause: await pauses.take() };
}

async function usedBy(target: Target, key: string): Promise<number> {
  const response = await fetch(`${target.url}/usage`, { headers: { 'x-api-key': key } });
  return ((await response.json()) as { used: number }).used;
}
