/**
 * `npm run bench:downloads`: the speed of 40 years of daily history, against copying the same bytes from memory to a pipe;
 * and other customers' `latest` during downloads, against the same server at rest. Rounds are interleaved. The server has
 * core 0, the clients have the others. Takes about three minutes.
 */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { percentile } from '../test/support/percentile.ts';
import { filledLedger } from './lib/filled-ledger.ts';
import { createKey, SERVER_CORE, startOpenpit } from './lib/openpit.ts';
import { median, pinned, residentMb } from './lib/process.ts';
import { RawClient } from './lib/raw-client.ts';
import { report } from './lib/report.ts';

const CLIENT_CORE = 1;
const SYMBOLS = 40;
const DAYS = 40 * 365;
/** As `cat` and most programs write. */
const PIPE_BYTES = 64 * 1024;
const SPEED_ROUNDS = 28;
/** The compiler of the server optimizes what runs often. */
const WARM_UP = 300;
/** The compiler's threads share the core with the server until it has optimized what it runs. */
const LATENCY_WARM_UP_MS = 15_000;
const LATENCY_ROUNDS = 4;
const LATENCY_MS = 2_000;
/** Another customer sends a request this often. */
const PAUSE_MS = 3;
/** A script that loads one history after another does something with each. */
const ANALYST_PAUSE_MS = 50;

// Both transfers go from one core to the other: from the server to this process, and from this process to `cat`.
Bun.spawnSync(['taskset', '-a', '-p', '-c', String(CLIENT_CORE), String(process.pid)]);
console.log(`Filling a ledger with ${SYMBOLS} symbols of ${DAYS} days`);
const folder = await filledLedger(SYMBOLS, DAYS);
process.env.OPENPIT_DEMO = 'false';
const other = createKey(folder);
const { target, key } = await startOpenpit(folder);
const codes = (await codesWithPrices()).slice(0, SYMBOLS);
const client = await RawClient.connect(target.url);
const fifo = join(folder, 'pipe');
Bun.spawnSync(['mkfifo', fifo]);
const cat = Bun.spawn([...pinned(SERVER_CORE), 'cat', fifo], { stdout: Bun.file('/dev/null') });
const pipe = openSync(fifo, 'w');

console.log('Warming up: every history is read into memory, and one of them is downloaded');
for (const code of codes) await client.get(`${pathOf([code])}&interval=year`, key);
for (let i = 0; i < WARM_UP; i++) {
  for (const format of ['csv', 'ndjson'])
    await client.get(pathOf([codes[0]!], `19${80 + (i % 20)}-01-01`, format), key);
}

const speeds = [
  await compareSpeed('one symbol, for the first time', (i) => pathOf([codes[i + 10]!])),
  await compareSpeed('one symbol, a different range each time', (i) =>
    pathOf([codes[10]!], `1980-01-${String(i + 1).padStart(2, '0')}`),
  ),
  await compareSpeed('one symbol, repeated', () => pathOf([codes[10]!]), true),
  await compareSpeed(
    'one symbol, repeated, as NDJSON',
    () => pathOf([codes[10]!], '1980-01-01', 'ndjson'),
    true,
  ),
  await compareSpeed('ten symbols, different ones each time', (i) => pathOf(codes.slice(i, i + 10))),
  await compareSpeed('ten symbols, repeated', () => pathOf(codes.slice(0, 10)), true),
];
const ranges = codes.flatMap((code) =>
  Array.from({ length: 20 }, (_, i) => pathOf([code], `19${80 + i}-01-01`)),
);
const latencies = [
  await compareLatency(`one symbol every ${ANALYST_PAUSE_MS} ms`, 1, ranges, ANALYST_PAUSE_MS),
  await compareLatency('one symbol, repeated without a pause', 1, [pathOf([codes[0]!])]),
  await compareLatency('one symbol, a different range each time, without a pause', 1, ranges),
  await compareLatency(`four of ${SYMBOLS} symbols at once, without a pause`, 4, [pathOf(codes)]),
];
const memory = residentMb(target.pids[0]!);
client.close();
closeSync(pipe);
await cat.exited;
await target.stop();
rmSync(folder, { recursive: true, force: true });
await report('downloads', 'Downloads', 'npm run bench:downloads', [
  `\`/rates/history\` of ${DAYS} days per symbol over a persistent connection whose client discards the data, compared with writing the same bytes from memory through a pipe to \`cat > /dev/null\`, 64 KB at a time. Medians of ${SPEED_ROUNDS} interleaved rounds. A download is timed from its request.`,
  '',
  '| CSV of | size | download | copy to a pipe | ratio |',
  '|---|---|---|---|---|',
  ...speeds,
  '',
  `Another customer's \`latest × 2\`, sent one after another with pauses of ${PAUSE_MS} ms, during downloads by another process and without downloads. Downloads without pauses saturate the server's core. Latencies are from ${LATENCY_ROUNDS} interleaved rounds of ${LATENCY_MS / 1000} s, after ${LATENCY_WARM_UP_MS / 1000} s of warm-up, in which the JIT compiler threads share the core with the program.`,
  '',
  '| Downloads of 40 years of | p50 idle | during | p99 idle | during | maximum idle | during |',
  '|---|---|---|---|---|---|---|',
  ...latencies,
  '',
  `Memory of the process afterwards: ${memory.toFixed(0)} MB. Load average of the machine: ${loadavg()[0]!.toFixed(0)}; the benchmark itself adds 2.`,
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

/** Writes bytes to the pipe. */
function copyToPipe(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(pipe, bytes, at, Math.min(PIPE_BYTES, bytes.length - at));
  }
}

async function compareSpeed(
  name: string,
  pathAt: (i: number) => string,
  isRepeated = false,
): Promise<string> {
  const downloads: number[] = [];
  const copies: number[] = [];
  let megabytes = 0;
  for (let round = 0; round < SPEED_ROUNDS; round++) {
    const path = pathAt(round);
    // Puts the bytes into the caches of the server's core, as the first copy below does for the pipe.
    if (isRepeated) await client.get(path, key);
    const start = performance.now();
    const length = await client.get(path, key);
    downloads.push(length / 1e3 / (performance.now() - start));
    if (client.status !== 200) throw new Error(`${path} is answered with ${client.status}`);
    const body = await bodyOf(path);
    copyToPipe(body);
    const copyStart = performance.now();
    copyToPipe(body);
    copies.push(body.length / 1e3 / (performance.now() - copyStart));
    megabytes = body.length / 1e6;
  }
  const [download, copy] = [median(downloads), median(copies)];
  const cells = [`${megabytes.toFixed(1)} MB`, `${download.toFixed(0)} MB/s`, `${copy.toFixed(0)} MB/s`];
  return shown(`| ${name} | ${cells.join(' | ')} | ${(download / copy).toFixed(2)} |`);
}

/** The bytes that a path responds with. */
async function bodyOf(path: string): Promise<Uint8Array> {
  const headers = { 'x-api-key': key, 'accept-encoding': 'identity' };
  return new Uint8Array(await (await fetch(target.url + path, { headers })).arrayBuffer());
}

async function compareLatency(
  name: string,
  count: number,
  paths: readonly string[],
  pauseMs = 0,
): Promise<string> {
  const rest: number[] = [];
  const during: number[] = [];
  const stopWarmUp = await startDownloads(count, paths, pauseMs);
  await askFor(LATENCY_WARM_UP_MS);
  await stopWarmUp();
  for (let round = 0; round < LATENCY_ROUNDS; round++) {
    rest.push(...(await askFor(LATENCY_MS)));
    const stop = await startDownloads(count, paths, pauseMs);
    during.push(...(await askFor(LATENCY_MS)));
    await stop();
  }
  const at = (times: readonly number[], share: number) => `${percentile(times, share).toFixed(1)} ms`;
  const cells = [0.5, 0.99, 1].map((part) => `${at(rest, part)} | ${at(during, part)}`);
  return shown(`| ${name} | ${cells.join(' | ')} |`);
}

/** A process of its own, at a lower priority: the client whose requests are timed must not wait for the core. */
async function startDownloads(
  count: number,
  paths: readonly string[],
  pauseMs: number,
): Promise<() => Promise<void>> {
  const script = join(import.meta.dir, 'targets/downloader.ts');
  const command = [...pinned(CLIENT_CORE), 'nice', 'bun', script, target.url, key, String(count)];
  const child = Bun.spawn([...command, String(pauseMs), ...paths], { stdio: ['ignore', 'pipe', 'inherit'] });
  await child.stdout.getReader().read();
  return async () => {
    child.kill('SIGKILL');
    await child.exited;
  };
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
