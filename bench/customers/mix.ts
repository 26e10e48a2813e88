import { measure, type Request } from '../lib/load.ts';
import { startProgram } from '../lib/openpit.ts';
import { PostgresWatch } from '../lib/postgres.ts';
import { residentMb, type Target } from '../lib/process.ts';
import { interleaved, nginxLike, recordedRequest, share, warmUp } from './comparison.ts';
import { type CustomerLedger, customerLedger } from './customer-ledger.ts';
import { requestsOf } from './population.ts';

export const ACCOUNTS = Number(process.env.ACCOUNTS ?? 10_000);
const COLD_SECONDS = 10;
const HEADER = '| | requests per CPU-second | relative to nginx |\n|---|---|---|';

/** The mix on SQLite: the first 10 s of a new month, then interleaved with nginx. */
export async function steady(): Promise<string[]> {
  const ledger = await customerLedger('SQLite', ACCOUNTS);
  const target = await startProgram(ledger.dir, ledger.env);
  const lines = await compareMix(ledger, target);
  lines.push('', `Memory of the process afterwards: ${Math.round(residentMb(target.pids[0]!))} MB.`);
  await target.stop();
  await ledger.remove();
  return lines;
}

/** The first 10 seconds and the first minute after a start: with new accounts, after a clean stop, after a kill. */
export async function startup(): Promise<string[]> {
  const ledger = await customerLedger('SQLite', ACCOUNTS);
  const request = await recordedRequest(ledger.dir, 'mix', requestsOf(ledger.customers));
  const lines = ['| Start | first 10 s | first minute |', '|---|---|---|'];
  const starts: [name: string, signal: NodeJS.Signals][] = [
    ['accounts without any request this month', 'SIGTERM'],
    ['after a clean stop', 'SIGKILL'],
    ['after `kill -9`', 'SIGTERM'],
  ];
  for (const [name, signal] of starts) {
    const target = await startProgram(ledger.dir, ledger.env);
    const { first, minute } = await firstMinute(target, request);
    lines.push(`| ${name} | ${Math.round(first)} | ${Math.round(minute)} |`);
    if (signal === 'SIGKILL') process.kill(target.pids[0]!, signal);
    await target.stop();
  }
  lines.push('', 'Requests per CPU-second, on SQLite.');
  await ledger.remove();
  return lines;
}

/** The mix on PostgreSQL, two processes on one port. */
export async function postgres(): Promise<string[]> {
  const ledger = await customerLedger('PostgreSQL', ACCOUNTS);
  const watch = await PostgresWatch.open(ledger.url);
  const before = await watch.done();
  const target = await startProgram(ledger.dir, { ...ledger.env, OPENPIT_PROCESSES: '2' });
  const lines = await compareMix(ledger, target);
  const { cpuSeconds, atMs } = await watch.done();
  const usage = (cpuSeconds - before.cpuSeconds) / ((atMs - before.atMs) / 1000);
  lines.push(
    '',
    `Two processes on one core, so each has half of its caches; PostgreSQL itself used ${(usage * 100).toFixed(0)} % of a core in this time.`,
  );
  await watch.close();
  await target.stop();
  await ledger.remove();
  return lines;
}

async function compareMix(ledger: CustomerLedger, target: Target): Promise<string[]> {
  const requests = requestsOf(ledger.customers);
  const request = await recordedRequest(ledger.dir, 'mix', requests);
  const cold = await measure(target, request, COLD_SECONDS);
  await warmUp(target, request);
  const nginx = await nginxLike(target, requests);
  const [own, other] = await interleaved([
    { target, request },
    ...(nginx ? [{ target: nginx, request }] : []),
  ]);
  await nginx?.stop();
  const row = (name: string, figure: number) =>
    `| ${name} | ${Math.round(figure)} | ${share(figure, other)} |`;
  return [
    HEADER,
    row(`${ACCOUNTS} accounts, first ${COLD_SECONDS} s after the start`, cold.requestsPerCpuSecond),
    row(`${ACCOUNTS} accounts, steady`, own!),
    ...(other ? [row('nginx, a response of median length for each endpoint', other)] : []),
  ];
}

async function firstMinute(target: Target, request: Request): Promise<{ first: number; minute: number }> {
  const windows = [];
  for (let from = 0; from < 60; from += COLD_SECONDS)
    windows.push(await measure(target, request, COLD_SECONDS));
  const cpuPerRequest = windows.map(
    ({ requestsPerSecond: n, requestsPerCpuSecond: r }) => [n, n / r] as const,
  );
  const total = cpuPerRequest.reduce(([n, cpu], [n1, cpu1]) => [n + n1, cpu + cpu1], [0, 0]);
  return { first: windows[0]!.requestsPerCpuSecond, minute: total[0]! / total[1]! };
}
