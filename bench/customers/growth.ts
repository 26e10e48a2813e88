import type { Request } from '../lib/load.ts';
import { startProgram } from '../lib/openpit.ts';
import type { Target } from '../lib/process.ts';
import { interleaved, recordedRequest, share, warmUp } from './comparison.ts';
import { type CustomerLedger, customerLedger } from './customer-ledger.ts';
import { memoryUnderLoad } from './memory.ts';
import { firstRequestsOf, requestsOf, sameRequestOf } from './population.ts';

const COUNTS = (process.env.COUNTS ?? '1000,10000,100000').split(',').map(Number);
const PATH = '/rates/latest?symbols=XAU,XAG,PL,PA,HG-SPOT';
const ROUNDS = 3;

interface Candidate {
  accounts: number;
  ledger: CustomerLedger;
  target: Target;
  same: Request;
  own: Request;
  startMs: number;
  /** Memory after the same request of every account, and after each account's own. */
  sameMb: number;
  ownMb: number;
}

/** The cost of a request and the memory of the process as accounts are added. */
export async function growth(): Promise<string[]> {
  const candidates: Candidate[] = [];
  for (const accounts of COUNTS) candidates.push(await candidate(accounts));
  const same = await interleaved(
    candidates.map(({ target, same: request }) => ({ target, request })),
    ROUNDS,
  );
  for (const one of candidates) {
    await warmUp(one.target, one.own);
    one.ownMb = await memoryUnderLoad(one.target, one.own);
  }
  const own = await interleaved(
    candidates.map(({ target, own: request }) => ({ target, request })),
    ROUNDS,
  );
  for (const { target, ledger } of candidates) {
    await target.stop();
    await ledger.remove();
  }
  const [first, last] = [candidates[0]!, candidates.at(-1)!];
  const perAccount = ((last.sameMb - first.sameMb) * 1024) / (last.accounts - first.accounts);
  return [
    '| Accounts | ready after | one same request | memory | requests of their own | memory |',
    '|---|---|---|---|---|---|',
    ...candidates.map(
      ({ accounts, startMs, sameMb, ownMb }, i) =>
        `| ${accounts} | ${Math.round(startMs)} ms | ${Math.round(same[i]!)} (${share(same[i]!, same[0])}) | ${Math.round(sameMb)} MB | ${Math.round(own[i]!)} (${share(own[i]!, own[0])}) | ${Math.round(ownMb)} MB |`,
    ),
    '',
    `Requests per CPU-second; in parentheses, relative to the first row. An active account takes ${perAccount.toFixed(2)} KB.`,
  ];
}

async function candidate(accounts: number): Promise<Candidate> {
  const ledger = await customerLedger('SQLite', accounts, 'unlimited');
  const start = performance.now();
  const target = await startProgram(ledger.dir, ledger.env);
  const startMs = performance.now() - start;
  const same = await recordedRequest(ledger.dir, 'same', sameRequestOf(ledger.customers, PATH));
  const own = await recordedRequest(
    ledger.dir,
    'own',
    accounts > 10_000 ? firstRequestsOf(ledger.customers) : requestsOf(ledger.customers),
  );
  await warmUp(target, same);
  const sameMb = await memoryUnderLoad(target, same);
  return { accounts, ledger, target, same, own, startMs, sameMb, ownMb: 0 };
}
