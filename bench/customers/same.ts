import { startProgram } from '../lib/openpit.ts';
import { interleaved, nginxLike, recordedRequest, share, warmUp } from './comparison.ts';
import { customerLedger } from './customer-ledger.ts';
import { ACCOUNTS } from './mix.ts';
import { sameRequestOf } from './population.ts';

const PATH = '/rates/latest?symbols=XAU,XAG,PL,PA,HG-SPOT';

/** One request, sent by one account to one process and by all accounts to another. */
export async function same(): Promise<string[]> {
  const ledger = await customerLedger('SQLite', ACCOUNTS, 'unlimited');
  const alone = await customerLedger('SQLite', 1, 'unlimited');
  const target = await startProgram(ledger.dir, ledger.env);
  const lonely = await startProgram(alone.dir, alone.env);
  const one = sameRequestOf(alone.customers, PATH);
  const oneRequest = await recordedRequest(alone.dir, 'one', one);
  const allRequest = await recordedRequest(ledger.dir, 'all', sameRequestOf(ledger.customers, PATH));
  await warmUp(target, allRequest);
  await warmUp(lonely, oneRequest);
  const nginx = await nginxLike(lonely, one);
  const [single, all, limit] = await interleaved([
    { target: lonely, request: oneRequest },
    { target, request: allRequest },
    ...(nginx ? [{ target: nginx, request: oneRequest }] : []),
  ]);
  for (const running of [nginx, target, lonely]) await running?.stop();
  await alone.remove();
  await ledger.remove();
  return [
    `\`${PATH}\` with the key in a header.`,
    '',
    '| | requests per CPU-second | relative to one account | relative to nginx |',
    '|---|---|---|---|',
    `| one account | ${Math.round(single!)} | 1.00 | ${share(single!, limit)} |`,
    `| ${ACCOUNTS} accounts | ${Math.round(all!)} | ${share(all!, single)} | ${share(all!, limit)} |`,
  ];
}
