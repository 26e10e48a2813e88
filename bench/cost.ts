/**
 * `npm run bench:cost`: the CPU time that the server spends on each request at its maximum size: 100 symbols, as the plan `pro`
 * allows, over a century. Every URL is new, so that no response comes from the cache. CPU time is that of all threads, on SQLite;
 * it does not depend on what else the machine does.
 */
import { newBenchLedger } from './lib/bench-ledger.ts';
import { fillCentury, RECORDED } from './lib/century.ts';
import { startProgram } from './lib/openpit.ts';
import { cpuSeconds, type Target } from './lib/process.ts';
import { report } from './lib/report.ts';

const DAYS = Number(process.env.DAYS ?? 46_000);
/** CPU time is counted in hundredths of a second. A measurement takes at least this many. */
const CPU_SECONDS_LEAST = Number(process.env.CPU_SECONDS ?? 0.5);
const REQUESTS_MAX = 2_000;
const FREE_MS_MAX = 5;

interface Cost {
  name: string;
  status: number;
  cpuMs: number;
  units: number;
}

const bench = await newBenchLedger('SQLite', 100);
const codes = await fillCentury(bench, 100, DAYS);
const target = await startProgram(bench.dir, bench.env);
const costs: Cost[] = [];
try {
  for (const [name, method, path] of requests(codes)) costs.push(await measure(target, name, method, path));
} finally {
  await target.stop();
  await bench.remove();
}
const free = costs.filter(({ units }) => units === 0);
const dearest = free.reduce((a, b) => (a.cpuMs > b.cpuMs ? a : b));
await report('cost', 'CPU per request', 'npm run bench:cost', [
  `Each request at its maximum size for the plan \`pro\`: 100 symbols with a bar on every workday of ${Math.round(DAYS / 365)} years, on SQLite. No response comes from the cache, and requests are sent one after another. The CPU time includes all threads of the server, reader threads too.`,
  '',
  '| Request | status | CPU per request | units | CPU per unit |',
  '|---|---|---|---|---|',
  ...costs.map(({ name, status, cpuMs, units }) => {
    const perUnit = units === 0 ? 'free' : `${(cpuMs / units).toFixed(2)} ms`;
    return `| ${name} | ${status} | ${cpuMs.toFixed(2)} ms | ${units} | ${perUnit} |`;
  }),
  '',
  `The most expensive free request: ${dearest.name}, ${dearest.cpuMs.toFixed(2)} ms (target: at most ${FREE_MS_MAX} ms).`,
]);
process.exit(dearest.cpuMs <= FREE_MS_MAX ? 0 : 1);

function requests(all: readonly string[]): [name: string, method: string, path: string][] {
  const symbols = `symbols=${all.join(',')}`;
  const unknown = `symbols=${all.map((code) => `${code}Q`).join(',')}`;
  const century = 'startDate=1900-01-01&endDate=2025-12-31';
  const month = 'startDate=2025-12-01&endDate=2025-12-31';
  const asOf = `asOf=${RECORDED}T12:00:00Z`;
  const memory: [string, string][] = [
    ['symbols', '/symbols?'],
    ['latest', `/rates/latest?${symbols}`],
    ['latest in euros', `/rates/latest?${symbols}&quote=EUR`],
    ['historical', `/rates/historical?${symbols}&date=2025-12-31`],
    ['historical in euros', `/rates/historical?${symbols}&date=2025-12-31&quote=EUR`],
    ['time-series, 30 days', `/rates/time-series?${symbols}&${month}`],
    ['time-series, 30 days, in euros', `/rates/time-series?${symbols}&${month}&quote=EUR`],
    ['fluctuation', `/rates/fluctuation?${symbols}&startDate=2000-01-03&endDate=2025-12-31`],
    ['history by day, a page', `/rates/history?${symbols}&${century}&interval=day`],
    ['history by month, a page', `/rates/history?${symbols}&${century}&interval=month`],
    ['history by year, a page', `/rates/history?${symbols}&${century}&interval=year`],
    ['history by year as CSV', `/rates/history?${symbols}&${century}&interval=year&format=csv`],
    [
      'history by year in euros as CSV',
      `/rates/history?${symbols}&${century}&interval=year&quote=EUR&format=csv`,
    ],
    [
      'history by year in euros, a page',
      `/rates/history?${symbols}&startDate=2000-01-01&endDate=2025-12-31&interval=year&quote=EUR`,
    ],
  ];
  const ledger: [string, string][] = [
    ['historical, asOf', `/rates/historical?${symbols}&date=2025-12-31&${asOf}`],
    ['historical, asOf, not recorded yet', `/rates/historical?${symbols}&date=2025-12-31&asOf=2025-12-31`],
    ['historical in euros, asOf', `/rates/historical?${symbols}&date=2025-12-31&quote=EUR&${asOf}`],
    ['time-series, 30 days, asOf', `/rates/time-series?${symbols}&${month}&${asOf}`],
    ['fluctuation, asOf', `/rates/fluctuation?${symbols}&startDate=2000-01-03&endDate=2025-12-31&${asOf}`],
    ['history by day, a page, asOf', `/rates/history?${symbols}&${century}&interval=day&${asOf}`],
    ['history by year, a page, asOf', `/rates/history?${symbols}&${century}&interval=year&${asOf}`],
    ['revisions of a day', `/rates/revisions?${symbols}&date=2025-12-31`],
    ['revisions of a century', `/rates/revisions?${symbols}&${century}`],
  ];
  const others: [string, string][] = [
    ['100 unknown symbols', `/rates/latest?${unknown}`],
    ['a wrong date', `/rates/historical?${symbols}&date=2025-02-30`],
    ['units', `/units?${symbols}`],
    ['usage', '/usage?'],
    ['account', '/account?'],
    ['feeds', '/feeds?'],
    ['health', '/health?'],
  ];
  return [
    ...memory.map(([name, path]): [string, string, string] => [name, 'GET', path]),
    ...memory.map(([name, path]): [string, string, string] => [`HEAD of ${name}`, 'HEAD', path]),
    ...ledger.map(([name, path]): [string, string, string] => [name, 'GET', path]),
    ...others.map(([name, path]): [string, string, string] => [name, 'GET', path]),
  ];
}

async function measure({ url, pids }: Target, name: string, method: string, path: string): Promise<Cost> {
  let sent = 0;
  const ask = async () => {
    const headers = { 'x-api-key': bench.key, 'accept-encoding': 'gzip' };
    const response = await fetch(`${url}${path}&_=${name.length}${sent++}`, { method, headers });
    await response.arrayBuffer();
    return response.status;
  };
  const status = await ask(); // loads what it needs
  await ask();
  const [before, usedBefore, first] = [cpuSeconds(pids), await used(url), sent];
  while (cpuSeconds(pids) - before < CPU_SECONDS_LEAST && sent - first < REQUESTS_MAX) await ask();
  const count = sent - first;
  const cost = {
    name,
    status,
    cpuMs: ((cpuSeconds(pids) - before) * 1000) / count,
    units: ((await used(url)) - usedBefore) / count,
  };
  console.log(cost);
  return cost;
}

async function used(url: string): Promise<number> {
  const response = await fetch(`${url}/usage`, { headers: { 'x-api-key': bench.key } });
  return ((await response.json()) as { used: number }).used;
}
