/**
 * `npm run bench:latency`: response times at half of the server's maximum load: alone, and during 10,000 ticks a second and an import of a
 * million bars. Requests are sent on a schedule, and timed from when they were due, so that a stall delays every request that was due
 * during it. The server has one core; client, feed and import share the other.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printDay } from '../src/market/day.ts';
import { percentile } from '../test/support/percentile.ts';
import { measure } from './lib/load.ts';
import { createKey, ROOT, startProgram } from './lib/openpit.ts';
import { Pauses } from './lib/pauses.ts';
import { record } from './lib/recorded.ts';
import { report } from './lib/report.ts';
import { sendOnSchedule } from './lib/send-on-schedule.ts';

const SECONDS = Number(process.env.SECONDS ?? 15);
const BARS = Number(process.env.BARS ?? 1_000_000);
const TICKS_PER_SECOND = 10_000;
const PUSHES_PER_SECOND = 5;
const TOKEN = 'bench-token-of-the-operator-0123456789';
const PATH = '/rates/latest?symbols=XAU,XAG,PL,PA,HG-SPOT';

const dir = mkdtempSync(join(tmpdir(), 'openpit-bench-latency-'));
const key = createKey(dir);
const target = await startProgram(dir, { OPENPIT_ADMIN_TOKEN: TOKEN, OPENPIT_DEMO: 'true' });
const codes = await listCodes();
const file = join(dir, 'bars.csv');
await writeBars();

const request = { paths: [PATH], headers: { 'x-api-key': key } };
await measure(target, request, 3); // warms up
const aloneRate = await halfOfMaximum();
const alone = await timed(aloneRate, SECONDS);

const before = startFeed();
await Bun.sleep(3_000);
const besideRate = await halfOfMaximum();
await before.stop();

const feed = startFeed();
const importing = Bun.spawn(
  [
    'taskset',
    '-c',
    '1',
    'bun',
    join(ROOT, 'src/main.ts'),
    'import',
    file,
    '--symbol-column',
    'symbol',
    '--data-dir',
    dir,
  ],
  { stdio: ['ignore', 'ignore', 'inherit'] },
);
const beside = await timed(besideRate, SECONDS);
const isImported = (await Promise.race([importing.exited, Bun.sleep(0).then(() => undefined)])) === 0;
const ticksPerSecond = await feed.stop();
if ((await importing.exited) !== 0) throw new Error('the import failed');
await target.stop();
rmSync(dir, { recursive: true });

const work = `${Math.round(ticksPerSecond)} ticks a second and an import of ${BARS} bars (${isImported ? 'finished' : 'unfinished'} at the end)`;
await report('latency', 'Latency', 'npm run bench:latency', [
  `\`latest × 5\` at half the maximum rate of this server, alone and during ${TICKS_PER_SECOND} ticks a second, for ${SECONDS} s each.`,
  '',
  '| | requests per second | p50 | p99 | p99.9 | maximum | longest pause of the server |',
  '|---|---|---|---|---|---|---|',
  row('alone', aloneRate, alone),
  row(`during ${work}`, besideRate, beside),
  '',
  'Latency is measured from the moment a request was due until its response. It includes every pause of the server, and on this machine also those of the client, which shares its core with the feed and the import. The last column is the event-loop lag that the server reports (`openpit_event_loop_lag_max_seconds`).',
]);

interface Timed {
  times: Float64Array;
  /** Of the server's event loop. */
  pauseMs: number;
  isWhole: boolean;
}

/** Half of the rate that wrk reaches. */
async function halfOfMaximum(): Promise<number> {
  const { requestsPerSecond } = await measure(target, request, 5);
  console.log(`${Math.round(requestsPerSecond)} requests a second at most`);
  return Math.round(requestsPerSecond / 2);
}

function row(name: string, rate: number, { times, pauseMs, isWhole }: Timed): string {
  const at = (share: number) => `${percentile(times, share).toFixed(2)} ms`;
  return `| ${name} | ${rate} | ${at(0.5)} | ${at(0.99)} | ${at(0.999)} | ${at(1)} | ${pauseMs.toFixed(1)} ms |${isWhole ? '' : ' some were refused |'}`;
}

/** Sends requests at this rate, from a process of its own. Times in ms, sorted. */
async function timed(perSecond: number, seconds: number): Promise<Timed> {
  const recorded = await record(join(dir, 'request'), [{ path: PATH, key }]);
  const pauses = await Pauses.watch(target, TOKEN);
  const { times, isWhole } = await sendOnSchedule(target.url, recorded.file, perSecond, seconds);
  const { server: pauseMs } = await pauses.take();
  await pauses.stop();
  return { times, pauseMs, isWhole };
}

function startFeed(): { stop(): Promise<number> } {
  const feed = Bun.spawn(
    ['taskset', '-c', '1', 'bun', join(import.meta.dir, 'lib', 'tick-feed.ts')].concat(
      JSON.stringify({
        url: target.url,
        token: TOKEN,
        codes,
        perSecond: TICKS_PER_SECOND,
        pushesPerSecond: PUSHES_PER_SECOND,
      }),
    ),
    { stdout: 'pipe' },
  );
  return {
    async stop() {
      feed.kill('SIGTERM');
      return Number(await new Response(feed.stdout).text());
    },
  };
}

async function listCodes(): Promise<string[]> {
  const answer = await fetch(`${target.url}/symbols`, { headers: { 'x-api-key': key } });
  const { symbols } = (await answer.json()) as { symbols: { symbol: string; updateInterval?: string }[] };
  return symbols.map(({ symbol }) => symbol).filter((code) => !PATH.includes(code));
}

async function writeBars(): Promise<void> {
  const perSymbol = 20_000;
  const rows = Array.from({ length: BARS }, (_, i) => {
    const price = 50 + (i % 700) / 100;
    const code = codes[Math.floor(i / perSymbol) % codes.length];
    return `${printDay(i % perSymbol)},${code},${price},${price + 1},${price - 1},${price}\n`;
  });
  await Bun.write(file, `date,symbol,open,high,low,close\n${rows.join('')}`);
}
