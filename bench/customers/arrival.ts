import { percentile } from '../../test/support/percentile.ts';
import { startProgram } from '../lib/openpit.ts';
import { record } from '../lib/recorded.ts';
import { sendOnSchedule } from '../lib/send-on-schedule.ts';
import { customerLedger } from './customer-ledger.ts';
import { firstRequestsOf } from './population.ts';

const ACCOUNTS = 10_000;
const SECONDS = 5;
const STARTS = ['new accounts', 'after a clean stop', 'after a clean stop', 'after a clean stop'];

/** The first request of every customer, in the first seconds after a start, on all cores. */
export async function arrival(): Promise<string[]> {
  const ledger = await customerLedger('SQLite', ACCOUNTS);
  const { file } = await record(`${ledger.dir}/first.requests`, firstRequestsOf(ledger.customers));
  const rows: string[] = [];
  for (const name of STARTS) {
    const start = performance.now();
    const target = await startProgram(ledger.dir, ledger.env, '0-1');
    const readyMs = performance.now() - start;
    const { times, isWhole } = await sendOnSchedule(target.url, file, ACCOUNTS / SECONDS, SECONDS);
    if (!isWhole) throw new Error('some requests were refused');
    await target.stop();
    const figures = [readyMs, ...[0.5, 0.9, 0.99, 1].map((share) => percentile(times, share))];
    rows.push(`| ${name} | ${figures.map((ms) => `${Math.round(ms)} ms`).join(' | ')} |`);
  }
  await ledger.remove();
  return [
    `The first requests of ${ACCOUNTS} customers, ${ACCOUNTS / SECONDS} a second from the moment the service is ready. The service may use both cores; the customers use one of them.`,
    '',
    '| Start | ready after | p50 | p90 | p99 | longest |',
    '|---|---|---|---|---|---|',
    ...rows,
  ];
}
