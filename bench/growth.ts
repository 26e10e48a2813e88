/**
 * `npm run bench:growth`: what a request costs as the history, the catalogue and the crowd grow. `-- --bars 100` adds a ledger of
 * so many million bars.
 */
import { rmSync } from 'node:fs';
import { filledLedger } from './lib/filled-ledger.ts';
import { measure } from './lib/load.ts';
import { createKey, startProgram } from './lib/openpit.ts';
import { median, residentMb, type Target } from './lib/process.ts';
import { report } from './lib/report.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS = Number(process.env.SECONDS ?? 1);
const MILLION = 1_000_000;
const SYMBOLS = 131;
const DAYS = 3_000;
/** From 1930 on: a day before 1900 is not served. */
const DAYS_MAX = 35_000;

const extra = Number(process.argv[process.argv.indexOf('--bars') + 1]) || 0;
const lines: string[] = [];

await overBars([1, 5, 20, ...(extra > 20 ? [extra] : [])]);
await overSymbols([100, 1_000, 5_000]);
await overConnections([10, 100, 1_000, 10_000]);
await report('growth', 'Growth', 'npm run bench:growth', lines);

interface Candidate {
  name: string;
  target: Target;
  key: string;
  dir: string;
}

/** The same requests to ledgers of different sizes, in turn. */
async function compare(candidates: readonly Candidate[], paths: Readonly<Record<string, string>>) {
  const samples = candidates.map(() => Object.values(paths).map(() => [] as number[]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, { target, key }] of candidates.entries()) {
      for (const [j, path] of Object.values(paths).entries()) {
        const request = { paths: [path], headers: { 'x-api-key': key } };
        const { requestsPerCpuSecond } = await measure(target, request, SECONDS);
        if (round > 0) samples[i]![j]!.push(requestsPerCpuSecond); // the first round warms up
      }
    }
  }
  return samples.map((all) => all.map(median));
}

async function start(name: string, dir: string): Promise<Candidate & { startMs: number }> {
  const key = createKey(dir);
  const began = performance.now();
  const target = await startProgram(dir, { OPENPIT_DEMO: 'false', OPENPIT_HISTORY_MB: '8000' });
  return { name, target, key, dir, startMs: performance.now() - began };
}

async function end({ target, dir }: Candidate): Promise<void> {
  await target.stop();
  rmSync(dir, { recursive: true });
}

async function overBars(millions: readonly number[]): Promise<void> {
  const candidates = [];
  for (const count of millions) {
    console.log(`${count} million bars …`);
    const symbols = Math.max(SYMBOLS, Math.ceil((count * MILLION) / DAYS_MAX));
    const dir = await filledLedger(symbols, Math.round((count * MILLION) / symbols));
    candidates.push(await start(`${count} million`, dir));
  }
  const memory: number[] = [];
  for (const { target, key } of candidates) memory.push(await loadAll(target, key));
  const [first, last] = days();
  const figures = await compare(candidates, {
    historical: `/rates/historical?symbols=XAU,XAG,PL,PA,HG-SPOT&date=${last}`,
    'never requested': `/rates/time-series?symbols=XAU,XAG,PL,PA,HG-SPOT&startDate=${first}&endDate=${last}&_={n}`,
  });
  lines.push(
    '### History',
    '',
    `${SYMBOLS} symbols, and more where their days would begin before 1930. The last column is the memory for the history of all symbols after each of them was requested.`,
    '',
    '| Bars | ready after | historical × 5 | time-series 30 × 5, never requested before | history |',
    '|---|---|---|---|---|',
    ...candidates.map(({ name, startMs }, i) => {
      const share = (j: number) =>
        `${Math.round(figures[i]![j]!)} (${(figures[i]![j]! / figures[0]![j]!).toFixed(2)})`;
      return `| ${name} | ${Math.round(startMs)} ms | ${share(0)} | ${share(1)} | ${Math.round(memory[i]!)} MB |`;
    }),
    '',
    `A million bars take ${((memory.at(-1)! - memory[0]!) / (millions.at(-1)! - millions[0]!)).toFixed(0)} MB.`,
    '',
  );
  for (const candidate of candidates) await end(candidate);
}

/** Loads the history of every symbol. Returns the memory that it takes, in MB, as the service reports it. */
async function loadAll({ url }: Target, key: string): Promise<number> {
  const headers = { 'x-api-key': key };
  const answer = await fetch(`${url}/symbols`, { headers });
  const { symbols } = (await answer.json()) as { symbols: { symbol: string }[] };
  for (const { symbol } of symbols) {
    const code = encodeURIComponent(symbol);
    await (await fetch(`${url}/rates/historical?symbols=${code}&date=${days()[1]}`, { headers })).text();
  }
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^openpit_history_bytes (\d+)/m.exec(metrics)![1]) / 2 ** 20;
}

async function overSymbols(counts: readonly number[]): Promise<void> {
  const candidates = [];
  for (const count of counts) {
    console.log(`${count} symbols …`);
    candidates.push(await start(String(count), await filledLedger(count, DAYS)));
  }
  const figures = await compare(candidates, {
    latest: '/rates/latest?symbols=XAU,XAG,PL,PA,HG-SPOT',
    'never requested': '/rates/latest?symbols=XAU,XAG,PL,PA,HG-SPOT&_={n}',
  });
  lines.push(
    '### Symbols',
    '',
    `${DAYS} days each.`,
    '',
    '| Symbols | ready after | latest × 5 | latest × 5, never requested before |',
    '|---|---|---|---|',
    ...candidates.map(({ name, startMs }, i) => {
      const share = (j: number) =>
        `${Math.round(figures[i]![j]!)} (${(figures[i]![j]! / figures[0]![j]!).toFixed(2)})`;
      return `| ${name} | ${Math.round(startMs)} ms | ${share(0)} | ${share(1)} |`;
    }),
    '',
  );
  for (const candidate of candidates) await end(candidate);
}

async function overConnections(counts: readonly number[]): Promise<void> {
  const candidate = await start('connections', await filledLedger(SYMBOLS, DAYS));
  const { target, key } = candidate;
  const request = { paths: ['/rates/latest?symbols=XAU,XAG,PL,PA,HG-SPOT'], headers: { 'x-api-key': key } };
  const samples = counts.map(() => [] as number[]);
  const memory: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, connections] of counts.entries()) {
      const { requestsPerCpuSecond } = await measure(target, request, SECONDS + 1, 200, connections);
      if (round > 0) samples[i]!.push(requestsPerCpuSecond);
      memory[i] = residentMb(target.pids[0]!);
    }
  }
  const first = median(samples[0]!);
  lines.push(
    '### Connections',
    '',
    '| Connections | latest × 5 | memory |',
    '|---|---|---|',
    ...counts.map((connections, i) => {
      const own = median(samples[i]!);
      return `| ${connections} | ${Math.round(own)} (${(own / first).toFixed(2)}) | ${Math.round(memory[i]!)} MB |`;
    }),
    '',
    'In parentheses: relative to the first row. For accounts see `npm run bench:customers`.',
  );
  await end(candidate);
}

/** A month up to the day before yesterday. */
function days(): [first: string, last: string] {
  const at = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
  return [at(32), at(2)];
}
