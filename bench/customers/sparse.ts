import { percentile } from '../../test/support/percentile.ts';
import { keepCoresAwake } from '../lib/awake.ts';
import { measure } from '../lib/load.ts';
import { startProgram } from '../lib/openpit.ts';
import { cpuSeconds, type Target } from '../lib/process.ts';
import { record } from '../lib/recorded.ts';
import { sendOnSchedule } from '../lib/send-on-schedule.ts';
import { nginxLike, recordedRequest } from './comparison.ts';
import { customerLedger } from './customer-ledger.ts';
import { sameRequestOf } from './population.ts';

const ACCOUNTS = Number(process.env.SPARSE_ACCOUNTS ?? 100_000);
const PER_SECOND = Math.round(ACCOUNTS / 60);
/** The interval of reports on SQLite. */
const REPORT_SECONDS = Number(process.env.SPARSE_REPORT_SECONDS ?? 300);
const SECONDS = Number(process.env.SPARSE_SECONDS ?? 60);
const PATH = '/rates/latest?symbols=XAU,XAG,PL,PA,HG-SPOT';

interface Paced {
  cpuMicros: number;
  p50: number;
  p99: number;
  longest: number;
}

/** Accounts that send one request a minute, and one account that sends as many requests as all of them. */
export async function sparse(): Promise<string[]> {
  keepCoresAwake();
  const ledger = await customerLedger('SQLite', ACCOUNTS, 'unlimited');
  const target = await startProgram(ledger.dir, ledger.env);
  const requests = sameRequestOf(ledger.customers, PATH);
  const all = await recordedRequest(ledger.dir, 'sparse', requests);
  const one = await record(`${ledger.dir}/one.requests`, requests.slice(0, 1));
  // Every account's first request of the month, which leases a block.
  do await measure(target, all, Number(process.env.WARM_UP_SECONDS ?? 10));
  while ((await ledger.leaseCount()) < ACCOUNTS);
  await Bun.sleep((REPORT_SECONDS + 5) * 1000); // until the counts of these requests have been reported
  const nginx = await nginxLike(target, requests.slice(0, 1));
  const other = nginx && (await paced(nginx, one.file, 0));
  await nginx?.stop();
  const idleCpu = await idle(target);
  const busy = await paced(target, one.file, idleCpu);
  const before = await ledger.leaseCount();
  // As many reports as requests are under way only after the first interval.
  await paced(target, all.recorded!.file, idleCpu, REPORT_SECONDS);
  const many = await paced(target, all.recorded!.file, idleCpu);
  const leases = (await ledger.leaseCount()) - before;
  await target.stop();
  await ledger.remove();
  const row = (name: string, { cpuMicros, p50, p99, longest }: Paced) =>
    `| ${name} | ${cpuMicros.toFixed(0)} µs (${(cpuMicros / busy.cpuMicros).toFixed(2)}) | ${p50.toFixed(2)} ms | ${p99.toFixed(2)} ms | ${longest.toFixed(1)} ms |`;
  return [
    `${PER_SECOND} requests a second for ${SECONDS} s, on a schedule; of the sparse accounts, after ${REPORT_SECONDS} s of the same. CPU time beyond that of the idle process; in parentheses, relative to the busy account.`,
    '',
    '| | CPU per request | p50 | p99 | longest |',
    '|---|---|---|---|---|',
    ...(other ? [row('nginx with the same response', other)] : []),
    row('one busy account', busy),
    row(`${ACCOUNTS} accounts, one request a minute each`, many),
    '',
    `Leases created by ${PER_SECOND * (REPORT_SECONDS + SECONDS)} requests: ${leases}.`,
  ];
}

/** CPU-seconds per second without requests: the simulated feed. */
async function idle({ pids }: Target): Promise<number> {
  const [before, seconds] = [cpuSeconds(pids), 5];
  await Bun.sleep(seconds * 1000);
  return (cpuSeconds(pids) - before) / seconds;
}

async function paced(target: Target, file: string, idleCpu: number, seconds = SECONDS): Promise<Paced> {
  const [before, start] = [cpuSeconds(target.pids), performance.now()];
  const { times, isWhole } = await sendOnSchedule(target.url, file, PER_SECOND, seconds);
  if (!isWhole) throw new Error('some requests were refused');
  const elapsed = (performance.now() - start) / 1000;
  const cpu = cpuSeconds(target.pids) - before - idleCpu * elapsed;
  const at = (share: number) => percentile(times, share);
  return { cpuMicros: (cpu / times.length) * 1e6, p50: at(0.5), p99: at(0.99), longest: at(1) };
}
