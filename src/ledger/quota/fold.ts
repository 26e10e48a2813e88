import { MS_PER_DAY } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, asText } from '../engine/rows.ts';
import { type Period, periodOf, periodStart } from './period.ts';
import { lockPeriods } from './rows/periods.ts';

/** A few ms per transaction on SQLite, during which requests wait. */
const LEASES_PER_FOLD = 100;

/**
 * Adds the spending of some leases of one account's month to `folded` and deletes the leases. Returns how many; 0 when none
 * are left.
 *
 * A lease is folded when its holder has sent its last message and its month ended more than a month ago. A late spool may
 * still repeat that message: `folded` shows that it was already counted. A lease whose holder never came back is kept.
 */
export async function foldSettled(engine: Engine): Promise<number> {
  const newest = foldedUpTo(await engine.now(engine.read));
  const [row] = await engine.read`SELECT account_id, period FROM quota_lease
    WHERE settled = 1 AND period <= ${newest} ORDER BY period, account_id LIMIT 1`;
  if (!row) return 0;
  const of = { accountId: asText(row.account_id), period: asNumber(row.period) };
  return engine.write(async (tx) => {
    // Lock first: a concurrent message that has read one of the leases must not write it back.
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

/** No message about a lease is under way for longer. */
const UNUSED_MS = MS_PER_DAY;

/**
 * Deletes the leases that were settled without having been spent from, of the next `count` leases: each start leases units for
 * thousands of accounts that may send no request. They have no index. Returns how many, and after which lease to continue;
 * undefined after the last one.
 */
export async function deleteUnused(
  engine: Engine,
  after: string,
  count: number,
): Promise<{ deleted: number; last: string | undefined }> {
  const settledBefore = (await engine.now(engine.read)) - UNUSED_MS;
  const rows =
    await engine.read`SELECT lease_id, settled = 1 AND spent = 0 AND expires_at < ${settledBefore} AS unused
    FROM quota_lease WHERE lease_id > ${after} ORDER BY lease_id LIMIT ${count}`;
  const unused = rows.filter((row) => row.unused).map((row) => [asText(row.lease_id)]);
  const last = rows.length < count ? undefined : asText(rows.at(-1)!.lease_id);
  if (unused.length === 0) return { deleted: 0, last };
  await engine.write((tx) =>
    engine.forRows(
      tx,
      { id: 'TEXT' },
      unused,
      (n) => `DELETE FROM quota_lease WHERE lease_id IN (SELECT ${n.cell('id')} ${n.from})
      AND settled = 1 AND spent = 0`,
    ),
  );
  return { deleted: unused.length, last };
}

/** The newest month that ended more than a month ago. */
function foldedUpTo(now: number): Period {
  const lastMonth = periodOf(periodStart(periodOf(now)) - 1);
  return periodOf(periodStart(lastMonth) - 1);
}
