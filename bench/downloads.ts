/**
 * `npm run bench:downloads`: the speed of 40 years of daily history as CSV, against copying the same bytes from memory to a
 * pipe; and other customers' `latest` during downloads, against the same server at rest. Rounds are interleaved. The server
 * has core 0, the clients have the others.
 */
import { rmSync } from 'node:fs';
import { filledLedger } from './lib/filled-ledger.ts';
import { createKey, startOpenpit } from './lib/openpit.ts';
import { cpuSeconds, median, residentMb } from './lib/process.ts';
import { RawClient } from './lib/raw-client.ts';
import { report } from './lib/report.ts';

const SYMBOLS = 100;
const DAYS = 40 * 365;
const PIPE_BYTES = 64 * 1024;
/** Downloads are repeated until they have transferred about this much: the CPU time of a process is known to 10 ms. */
const ROUND_BYTES = 60e6;
const SPEED_ROUNDS = 5;
const REST_ROUNDS = 4;
const REST_MS = 2_500;
const PAUSE_MS = 3;

const folder = await filledLedger(SYMBOLS, DAYS);
process.env.OPENPIT_DEMO = 'false';
const other = createKey(folder);
const { target, key } = await startOpenpit(folder);
const codes = (await codesWithPrices()).slice(0, SYMBOLS);
const client = await RawClient.connect(target.url);
const pipe = Bun.spawn(['cat'], { stdin: 'pipe', stdout: Bun.file('/dev/null') });

const speeds = [
  await compareSpeed('one symbol, for the first time', 1, (i) => pathOf([codes[i % SYMBOLS]!])),
  await compareSpeed('one symbol, another range each time', 1, (i) =>
    pathOf([codes[i % SYMBOLS]!], `1980-01-${String((i % 28) + 1).padStart(2, '0')}`),
  ),
  await compareSpeed('one symbol, repeated', 1, () => pathOf([codes[0]!])),
  await compareSpeed('ten symbols', 10, (i) => pathOf(codes.slice(i % 80, (i % 80) + 10))),
  await compareSpeed(`${SYMBOLS} symbols`, SYMBOLS, () => pathOf(codes)),
];
const latencies = [
  await compareLatency('40 years of one symbol, repeated', 1, pathOf([codes[0]!])),
  await compareLatency(`40 years of ${SYMBOLS} symbols`, 1, pathOf(codes)),
  await compareLatency(`ten of 40 years of ${SYMBOLS} symbols at once`, 10, pathOf(codes)),
  await compareLatency(`40 years of ${SYMBOLS} symbols by year`, 1, `${pathOf(codes)}&interval=year`),
  await compareLatency('40 years of one symbol as Parquet', 1, pathOf([codes[1]!], '1980-01-01', 'parquet')),
];
const memory = residentMb(target.pids[0]!);
client.close();
await pipe.stdin.end();
await target.stop();
rmSync(folder, { recursive: true, force: true });
await report('downloads', 'Downloads', 'npm run bench:downloads', [
  `\`/rates/history.csv\` of ${DAYS} days per symbol over a kept connection whose client discards what it reads, against writing the same bytes from memory to a pipe to \`cat > /dev/null\`, 64 KB at a time. Medians of ${SPEED_ROUNDS} interleaved rounds.`,
  '',
  '| | size | download | copy to a pipe | share | MB per CPU-second: download | copy | share |',
  '|---|---|---|---|---|---|---|---|',
  ...speeds,
  '',
  `Another customer's \`latest × 2\`, one request after another with pauses of ${PAUSE_MS} ms, during downloads that are repeated without a pause, and at rest. All times of ${REST_ROUNDS} interleaved rounds of ${REST_MS / 1000} s.`,
  '',
  '| Downloads | p50 at rest | during | p99 at rest | during | longest at rest | during |',
  '|---|---|---|---|---|---|---|',
  ...latencies,
  '',
  `Memory of the process afterwards: ${memory.toFixed(0)} MB.`,
]);

interface ListedSymbol {
  symbol: string;
  firstDate: string | null;
  formula?: string;
}

async function codesWithPrices(): Promise<string[]> {
  const answer = await fetch(`${target.url}/symbols`, { headers: { 'x-api-key': key } });
  const { symbols } = (await answer.json()) as { symbols: ListedSymbol[] };
  return symbols.filter((one) => one.firstDate !== null && !one.formula).map(({ symbol }) => symbol);
}

function pathOf(symbols: readonly string[], startDate = '1980-01-01', format = 'csv'): string {
  return `/rates/history.${format}?symbols=${symbols.join(',')}&startDate=${startDate}&endDate=2199-12-31`;
}

async function download(path: string): Promise<void> {
  await client.get(path, key);
  if (client.status !== 200) throw new Error(`${path} is answered with ${client.status}`);
}

/** Writes bytes to the pipe. */
async function copyToPipe(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += PIPE_BYTES) {
    pipe.stdin.write(bytes.subarray(at, at + PIPE_BYTES));
    await pipe.stdin.flush();
  }
}

interface Speed {
  perSecond: number;
  perCpuSecond: number;
}

/** Repeats work that transfers some bytes. Returns MB per second, and per second of CPU time. */
async function speedOf(bytes: number, cpu: () => number, work: () => Promise<unknown>): Promise<Speed> {
  const times = Math.max(1, Math.round(ROUND_BYTES / bytes));
  const before = cpu();
  const start = performance.now();
  for (let i = 0; i < times; i++) await work();
  const seconds = (performance.now() - start) / 1000;
  const megabytes = (bytes * times) / 1e6;
  return { perSecond: megabytes / seconds, perCpuSecond: megabytes / (cpu() - before) };
}

async function compareSpeed(name: string, symbols: number, pathAt: (i: number) => string): Promise<string> {
  const bytes = Buffer.alloc(Math.round((await client.get(pathOf([codes.at(-1)!]), key)) * symbols), 'x');
  let next = 0;
  const downloads: Speed[] = [];
  const copies: Speed[] = [];
  const ownCpu = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  for (let round = 0; round < SPEED_ROUNDS; round++) {
    downloads.push(
      await speedOf(
        bytes.length,
        () => cpuSeconds(target.pids),
        () => download(pathAt(next++)),
      ),
    );
    copies.push(await speedOf(bytes.length, ownCpu, () => copyToPipe(bytes)));
  }
  const of = (speeds: readonly Speed[], kind: keyof Speed) => median(speeds.map((one) => one[kind]));
  const cells = (['perSecond', 'perCpuSecond'] as const).map((kind) => {
    const [download, copy] = [of(downloads, kind), of(copies, kind)];
    return `${download.toFixed(0)} MB/s | ${copy.toFixed(0)} MB/s | ${(download / copy).toFixed(2)}`;
  });
  return shown(`| ${name} | ${(bytes.length / 1e6).toFixed(1)} MB | ${cells.join(' | ')} |`);
}

async function compareLatency(name: string, count: number, path: string): Promise<string> {
  const rest: number[] = [];
  const during: number[] = [];
  const clients = await Promise.all(Array.from({ length: count }, () => RawClient.connect(target.url)));
  for (let round = 0; round < REST_ROUNDS; round++) {
    rest.push(...(await askFor(REST_MS)));
    let isOver = false;
    const downloading = Promise.all(
      clients.map(async (one) => {
        while (!isOver) await one.get(path, key);
      }),
    );
    during.push(...(await askFor(REST_MS)));
    isOver = true;
    await downloading;
  }
  for (const one of clients) one.close();
  const at = (times: readonly number[], part: number) =>
    `${times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))]!.toFixed(1)} ms`;
  const cells = [0.5, 0.99, 1].map((part) => `${at(rest, part)} | ${at(during, part)}`);
  return shown(`| ${name} | ${cells.join(' | ')} |`);
}

/** Times in ms of another customer's small requests. */
async function askFor(ms: number): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + ms;
  const own = await RawClient.connect(target.url);
  for (let start = performance.now(); start < end; start = performance.now()) {
    await own.get(`/rates/latest?symbols=XAU,XAG&n=${times.length}`, other);
    times.push(performance.now() - start);
    await Bun.sleep(PAUSE_MS);
  }
  own.close();
  return times;
}

function shown(line: string): string {
  console.log(line);
  return line;
}
