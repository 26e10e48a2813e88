/**
 * `bun bench/free-requests.ts`: the CPU time that the server spends on requests that cost no unit, each at its largest. A free
 * request that is expensive is a way to stall other customers.
 */
import { rmSync } from 'node:fs';
import { filledLedger } from './lib/filled-ledger.ts';
import { startOpenpit } from './lib/openpit.ts';

const SYMBOLS = 131;
const DAYS = 40 * 365;
const REQUESTS = 400;
const CONNECTIONS = 4;
const folder = await filledLedger(SYMBOLS, DAYS);
process.env.OPENPIT_DEMO = 'false';
process.env.OPENPIT_ADMIN_TOKEN = 'an admin token for this bench only';
const { target, key } = await startOpenpit(folder);

const listed = (await (await ask('/symbols')).json()) as { symbols: { symbol: string }[] };
const known = listed.symbols.slice(0, 100).map(({ symbol }) => symbol);
const wrong = (n: number, length: number) =>
  Array.from(
    { length: 100 },
    (_, i) => `${'QWERTYUIOPASDFGHJKLZXCVBNM'.slice(i % 20, (i % 20) + length)}${n}${i}`,
  );
const SPAN = 'startDate=1980-01-01&endDate=2199-12-31';

interface Free {
  name: string;
  path: (n: number) => string;
  method?: string;
  headers?: Record<string, string>;
}

const TAG = { 'if-none-match': '*' };
const REQUESTS_BY_NAME: readonly Free[] = [
  { name: '/usage', path: () => '/usage' },
  { name: '/units, 100 symbols', path: (n) => `/units?symbols=${known}&n=${n}` },
  { name: '404, 100 unknown symbols', path: (n) => `/rates/latest?symbols=${wrong(n, 4)}` },
  {
    name: '404, 8 KB of unknown symbols',
    path: (n) => `/rates/latest?symbols=${wrong(n, 26)},${wrong(n + 1, 26)}`.slice(0, 8_000),
  },
  {
    name: '400, 4,000 symbols',
    path: (n) => `/rates/latest?symbols=${Array.from({ length: 3_900 }, (_, i) => i.toString(36)[0])}${n}`,
  },
  { name: '400, invalid dates', path: (n) => `/rates/time-series?symbols=${known}&startDate=${n}&endDate=x` },
  {
    name: '404, no data for 100 symbols',
    path: (n) => `/rates/historical?symbols=${known}&date=1950-01-01&n=${n}`,
  },
  {
    name: '404, unknown currency, 100 symbols',
    path: (n) => `/rates/latest?symbols=${known}&quote=XXX&n=${n}`,
  },
  { name: '404, unknown path', path: (n) => `/rates/latets/${n}` },
  { name: '/feeds', path: () => '/feeds' },
  { name: '/account', path: () => '/account' },
  { name: '/account/keys', path: () => '/account/keys' },
  { name: '304 of /symbols', path: (n) => `/symbols?n=${n}`, headers: TAG },
  { name: '304 of latest, 100 symbols', path: (n) => `/rates/latest?symbols=${known}&n=${n}`, headers: TAG },
  {
    name: '304 of historical, 100 symbols',
    path: (n) => `/rates/historical?symbols=${known}&date=2020-05-04&n=${n}`,
    headers: TAG,
  },
  {
    name: '304 of fluctuation, 100 symbols',
    path: (n) => `/rates/fluctuation?symbols=${known}&${SPAN}&n=${n}`,
    headers: TAG,
  },
  {
    name: '304 of time-series, 100 symbols, 30 days',
    path: (n) => `/rates/time-series?symbols=${known}&startDate=2020-05-01&endDate=2020-05-31&n=${n}`,
    headers: TAG,
  },
  {
    name: '304 of history, 100 symbols, JSON',
    path: (n) => `/rates/history?symbols=${known}&${SPAN}&n=${n}`,
    headers: TAG,
  },
  {
    name: '304 of history, 100 symbols by year, JSON',
    path: (n) => `/rates/history?symbols=${known}&${SPAN}&interval=year&n=${n}`,
    headers: TAG,
  },
  {
    name: '304 of history, 40 years of 100 symbols, CSV',
    path: (n) => `/rates/history?symbols=${known}&${SPAN}&format=csv&n=${n}`,
    headers: TAG,
  },
  {
    name: 'HEAD of history, 40 years of 100 symbols, CSV',
    path: (n) => `/rates/history?symbols=${known}&${SPAN}&format=csv&n=${n}`,
    method: 'HEAD',
  },
  {
    name: 'HEAD of history, by month, CSV',
    path: (n) => `/rates/history?symbols=${known}&${SPAN}&interval=month&format=csv&n=${n}`,
    method: 'HEAD',
  },
  { name: '401, wrong admin token', path: () => '/admin/accounts', headers: { authorization: 'Bearer no' } },
  { name: '/health', path: () => '/health' },
];

function ask(path: string, { method = 'GET', headers = {} }: Partial<Free> = {}): Promise<Response> {
  return fetch(target.url + path, { method, headers: { 'x-api-key': key, ...headers } });
}

/** CPU seconds of the server so far. */
async function cpu(): Promise<number> {
  const stat = await Bun.file(`/proc/${target.pids[0]}/stat`).text();
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function measure(free: Free): Promise<{ ms: number; statuses: Set<number> }> {
  const statuses = new Set<number>();
  let next = 0;
  const run = async (until: number) => {
    while (next < until) {
      const response = await ask(free.path(next++), free);
      statuses.add(response.status);
      await response.arrayBuffer();
    }
  };
  await run(20);
  const before = await cpu();
  await Promise.all(Array.from({ length: CONNECTIONS }, () => run(REQUESTS)));
  return { ms: ((await cpu()) - before) * (1000 / (REQUESTS - 20)), statuses };
}

const idle = await measure({ name: 'idle', path: () => '/favicon.ico' });
console.log(
  `| Request | Status | CPU, ms |\n|---|---|---|\n| unknown path without a key (floor) | ${[...idle.statuses]} | ${idle.ms.toFixed(2)} |`,
);
for (const free of REQUESTS_BY_NAME) {
  const { ms, statuses } = await measure(free);
  console.log(`| ${free.name} | ${[...statuses]} | ${ms.toFixed(2)} |`);
}
await target.stop();
rmSync(folder, { recursive: true, force: true });
