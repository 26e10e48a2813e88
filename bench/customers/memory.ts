import { measure, type Request } from '../lib/load.ts';
import { startProgram } from '../lib/openpit.ts';
import { median, residentMb, type Target } from '../lib/process.ts';
import { recordedRequest } from './comparison.ts';
import { type CustomerLedger, customerLedger } from './customer-ledger.ts';
import { type BenchCustomer, sameRequestOf } from './population.ts';

const FEW = 2_000;
const MANY = Number(process.env.MEMORY_ACCOUNTS ?? 50_000);
const PATH = '/rates/latest?symbols=XAU,XAG,PL,PA,HG-SPOT';
const SECONDS = 5;
/** The memory of a process varies with the time since its last garbage collection, so the median of several moments counts. */
const SAMPLES = 9;

/** The memory of one process after requests of few accounts, and then of many: the difference is theirs. */
export async function memory(): Promise<string[]> {
  const ledger = await customerLedger('SQLite', MANY, 'unlimited');
  const target = await startProgram(ledger.dir, ledger.env);
  const before = await memoryAfter(target, ledger, ledger.customers.slice(0, FEW));
  const after = await memoryAfter(target, ledger, ledger.customers);
  await target.stop();
  await ledger.remove();
  const perAccount = ((after - before) * 1024) / (MANY - FEW);
  return [
    '| Active accounts | memory of the process |',
    '|---|---|',
    `| ${FEW} | ${Math.round(before)} MB |`,
    `| ${MANY} | ${Math.round(after)} MB |`,
    '',
    `An active account takes ${perAccount.toFixed(2)} KB: its key, its account, its lease and its record in the mapped spool.`,
  ];
}

/** Resident memory under load, once every one of the customers has a lease. */
async function memoryAfter(
  target: Target,
  ledger: CustomerLedger,
  customers: readonly BenchCustomer[],
): Promise<number> {
  const request = await recordedRequest(
    ledger.dir,
    `memory-${customers.length}`,
    sameRequestOf(customers, PATH),
  );
  do await measure(target, request, SECONDS);
  while ((await ledger.leaseCount()) < customers.length);
  return memoryUnderLoad(target, request);
}

/** Resident memory under this load, the median of several moments. */
export async function memoryUnderLoad(target: Target, request: Request): Promise<number> {
  const samples: number[] = [];
  while (samples.length < SAMPLES) {
    await measure(target, request, SECONDS);
    samples.push(residentMb(target.pids[0]!));
  }
  return median(samples);
}
