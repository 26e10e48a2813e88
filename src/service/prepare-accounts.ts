import type { Directory } from '../gate/directory/directory.ts';
import type { Meter } from '../gate/meter/meter.ts';
import type { AccountStore } from '../ledger/accounts/accounts.ts';
import { periodBefore, periodOf } from '../ledger/quota/period.ts';
import { yieldToRequests } from '../runtime/yield.ts';

/** More accounts wait for their first request: each takes memory, whether it is used or not. */
const ACCOUNTS_MAX = 20_000;
/** As many as one call of the meter leases. */
const ACCOUNTS_PER_PAGE = 256;

export interface ActiveAccounts {
  accounts: Pick<AccountStore, 'activePage'>;
  now: number;
  signal: AbortSignal;
}

/** Reads the keys of active accounts, so that after a start their first requests need not look them up. */
export async function preloadKeys(directory: Directory, active: ActiveAccounts): Promise<void> {
  for await (const ids of pagesOf(active)) await directory.preload(ids);
}

/**
 * Leases units for active accounts, so that after a start their first requests need not wait for the ledger. Only in a process
 * that is alone: if several did, each would hold units of every account, and the exact usage and the last units of a quota
 * would need all of them.
 */
export async function leaseAhead(meter: Meter, active: ActiveAccounts): Promise<void> {
  if (!(await meter.isAlone())) return;
  for await (const ids of pagesOf(active)) await meter.leaseAhead(ids);
}

/** The accounts that were created or used in this or the last month. */
async function* pagesOf({ accounts, now, signal }: ActiveAccounts): AsyncGenerator<string[]> {
  const since = periodBefore(periodOf(now), 1);
  let count = 0;
  for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
    const { ids, last }: { ids: string[]; last?: string } = await accounts.activePage(
      after,
      since,
      ACCOUNTS_PER_PAGE,
    );
    count += ids.length;
    if (count > ACCOUNTS_MAX) return;
    yield ids;
    await yieldToRequests();
    after = last;
  }
}
