import type { Meter } from '../gate/meter/meter.ts';
import type { AccountStore } from '../ledger/accounts/accounts.ts';
import { periodBefore, periodOf } from '../ledger/quota/period.ts';
import { yieldToRequests } from '../runtime/yield.ts';

/** More accounts wait for their first request: each lease takes memory, whether it is used or not. */
const ACCOUNTS_MAX = 20_000;
/** As many as one call of the meter leases. */
const ACCOUNTS_PER_PAGE = 256;

/**
 * Leases units for the accounts that were created or used in this or the last month, so that after a start their first
 * requests need not wait for the ledger. Only in a process that is alone: if several did, each would hold units of every
 * account, and the exact usage and the last units of a quota would need all of them.
 */
export async function leaseAhead(
  meter: Meter,
  accounts: Pick<AccountStore, 'activePage'>,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const since = periodBefore(periodOf(now), 1);
  if (!(await meter.isAlone())) return;
  let count = 0;
  for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
    const { ids, last }: { ids: string[]; last?: string } = await accounts.activePage(
      after,
      since,
      ACCOUNTS_PER_PAGE,
    );
    count += ids.length;
    if (count > ACCOUNTS_MAX) return;
    await meter.leaseAhead(ids);
    await yieldToRequests();
    after = last;
  }
}
