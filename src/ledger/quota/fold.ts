import type { Engine } from '../engine/engine.ts';
import { asNumber, asText } from '../engine/rows.ts';
import { type Period, periodOf, periodStart } from './period.ts';
import { lockPeriods } from './rows.ts';

/** So many leases in one transaction: a few ms on SQLite, for which answers wait. */
const LEASES_PER_FOLD = 100;

/**
 * Folds some leases of one account's month into one number, and deletes them. Says how many; 0 when there are none left.
 *
 * A lease may go when its holder has said its last word, so that nothing new can come of it, and its month has been over for
 * a month. Then the same word may still come again, from a spool that was away: the month's `folded` tells that it was heard.
 * A lease whose holder never came back stays, for as long as it takes.
 */
export async function foldSettled(engine: Engine): Promise<number> {
  const newest = foldedUpTo(await engine.now(engine.read));
  const [row] = await engine.read`SELECT account_id, period FROM quota_lease
    WHERE settled = 1 AND period <= ${newest} ORDER BY period, account_id LIMIT 1`;
  if (!row) return 0;
  const of = { accountId: asText(row.account_id), period: asNumber(row.period) };
  return engine.write(async (tx) => {
    // The lock first: a message about one of them that has read it must not write it back.
    await lockPeriods(engine, tx, [of]);
    const gone = await tx`DELETE FROM quota_lease WHERE lease_id IN (
        SELECT lease_id FROM quota_lease
        WHERE settled = 1 AND period = ${of.period} AND account_id = ${of.accountId} LIMIT ${LEASES_PER_FOLD}
      ) RETURNING spent`;
    const spent = gone.reduce((sum, lease) => sum + asNumber(lease.spent), 0);
    await tx`UPDATE quota_period SET folded = folded + ${spent}
      WHERE account_id = ${of.accountId} AND period = ${of.period}`;
    return gone.length;
  });
}

/** The newest month after which a whole one is over. */
function foldedUpTo(now: number): Period {
  const lastMonth = periodOf(periodStart(periodOf(now)) - 1);
  return periodOf(periodStart(lastMonth) - 1);
}
