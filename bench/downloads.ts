/**
 * `bun bench/downloads.ts`: other requests while clients download 40 years of 100 symbols as CSV or Parquet, against the same
 * server at rest; and the speed of downloads, against copying the same bytes from memory to a pipe. The server has core 0, the
 * clients have the others.
 */
import { rmSync } from 'node:fs';
import { filledLedger } from './lib/filled-ledger.ts';
import { startOpenpit } from './lib/openpit.ts';

const SYMBOLS = 100;
const DAYS = 40 * 365;
const PAUSE_MS = 5;
const folder = await filledLedger(SYMBOLS, DAYS);
process.env.OPENPIT_DEMO = 'false';
const { target, key } = await startOpenpit(folder);
const headers = { 'x-api-key': key };

async function codes(): Promise<string[]> {
  const answer = await fetch(`${target.url}/symbols`, { headers });
  const { symbols } = (await answer.json()) as { symbols: { symbol: string; firstDate: string | null }[] };
  return symbols.filter(({ firstDate }) => firstDate !== null).map(({ symbol }) => symbol);
}

/** Sends small requests until `work` is done. Times in ms, sorted. */
async function askDuring(work: Promise<unknown>): Promise<number[]> {
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  while (!isOver) {
    const start = performance.now();
    await (await fetch(`${target.url}/rates/latest?symbols=XAU,XAG&n=${times.length}`, { headers })).text();
    times.push(performance.now() - start);
    await Bun.sleep(PAUSE_MS);
  }
  return times.sort((a, b) => a - b);
}

function report(name: string, times: readonly number[]): void {
  const at = (part: number) =>
    `${times[Math.min(times.length - 1, Math.floor(times.length * part))]!.toFixed(1)} ms`;
  console.log(`${name}: ${times.length} answers, median ${at(0.5)}, 99 % ${at(0.99)}, longest ${at(1)}`);
}

/** CPU seconds of the server so far, and its resident memory in MB. */
async function usage(): Promise<{ cpu: number; memory: number }> {
  const stat = await Bun.file(`/proc/${target.pids[0]}/stat`).text();
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = await Bun.file(`/proc/${target.pids[0]}/status`).text();
  const memory = Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
  return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, memory };
}

async function download(encoding: string, query = '&format=csv', symbols = all): Promise<number> {
  const url = `${target.url}/rates/history?symbols=${symbols}&startDate=1980-01-01&endDate=2199-12-31${query}`;
  const { body } = await fetch(url, { headers: { ...headers, 'accept-encoding': encoding } });
  let bytes = 0;
  for await (const chunk of body!) bytes += chunk.length;
  return bytes;
}

/** The bytes of a table, in memory. */
async function fetchTable(symbols: string): Promise<Uint8Array> {
  const url = `${target.url}/rates/history.csv?symbols=${symbols}&startDate=1980-01-01&endDate=2199-12-31`;
  return (await fetch(url, { headers: { ...headers, 'accept-encoding': 'identity' } })).bytes();
}

/** Copies bytes to another process through a pipe. Returns MB/s. */
async function copyToPipe(bytes: Uint8Array): Promise<number> {
  const reader = Bun.spawn(['cat'], { stdin: 'pipe', stdout: Bun.file('/dev/null') });
  const start = performance.now();
  for (let at = 0; at < bytes.length; at += PIPE_BYTES) {
    reader.stdin.write(bytes.subarray(at, at + PIPE_BYTES));
    await reader.stdin.flush();
  }
  await reader.stdin.end();
  await reader.exited;
  return bytes.length / 1e3 / (performance.now() - start);
}

const PIPE_BYTES = 64 * 1024;
const ROUNDS = 5;

/** The median speed of downloads of a table, and of copying it, in interleaved rounds. */
async function compareSpeed(name: string, symbols: string): Promise<void> {
  const bytes = await fetchTable(symbols);
  const speeds: { download: number; copy: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await download('identity', '&format=csv', symbols);
    const downloaded = bytes.length / 1e3 / (performance.now() - start);
    speeds.push({ download: downloaded, copy: await copyToPipe(bytes) });
  }
  const median = (kind: 'download' | 'copy') =>
    speeds.map((one) => one[kind]).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
  const [own, copy] = [median('download'), median('copy')];
  console.log(
    `${name}: ${(bytes.length / 1e6).toFixed(1)} MB at ${own.toFixed(0)} MB/s; a copy to a pipe ${copy.toFixed(0)} MB/s (${(own / copy).toFixed(2)} of it)`,
  );
}

const all = (await codes()).slice(0, SYMBOLS).join(',');
await askDuring(download('identity')); // loads the history and warms up
report('at rest', await askDuring(Bun.sleep(5_000)));
await compareSpeed('one symbol', all.split(',')[0]!);
await compareSpeed(`${SYMBOLS} symbols`, all);
for (const [name, count, encoding, query] of [
  ['one download', 1, 'identity', '&format=csv'],
  ['one download, gzip', 1, 'gzip', '&format=csv'],
  ['one download by year', 1, 'identity', '&format=csv&interval=year'],
  ['ten downloads', 10, 'identity', '&format=csv'],
  ['one download, Parquet', 1, 'identity', '&format=parquet'],
] as const) {
  const before = await usage();
  const start = performance.now();
  const downloads = Promise.all(Array.from({ length: count }, () => download(encoding, query)));
  const times = await askDuring(downloads);
  const seconds = (performance.now() - start) / 1000;
  const after = await usage();
  report(name, times);
  const bytes = (await downloads).reduce((sum, one) => sum + one, 0);
  console.log(
    `  ${(bytes / 1e6).toFixed(0)} MB (decoded) in ${seconds.toFixed(1)} s, ${(after.cpu - before.cpu).toFixed(1)} s of CPU, ${after.memory.toFixed(0)} MB resident`,
  );
}
await target.stop();
rmSync(folder, { recursive: true, force: true });
