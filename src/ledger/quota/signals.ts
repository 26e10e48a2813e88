import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, rowReader, type Sql } from '../engine/rows.ts';
import type { Period } from './period.ts';
import type { AccountPeriod } from './rows/periods.ts';

/** A barrier or a recall that a lease holder must answer. */
export interface Signal {
  accountId: string;
  period: Period;
  barrier: number;
  recallAt: number;
}

const SIGNAL = rowReader<Signal>({
  accountId: asText,
  period: asNumber,
  barrier: asNumber,
  recallAt: asNumber,
});

/** Leaves a signal for every holder of the accounts, except for the sender. The caller holds the lock of the periods. */
export async function sendSignals(
  engine: Engine,
  tx: Sql,
  signals: readonly Signal[],
  sender = '',
): Promise<void> {
  if (signals.length === 0) return;
  await engine.forRows(
    tx,
    { account_id: 'TEXT', period: 'BIGINT', barrier: 'BIGINT', recall_at: 'BIGINT', sender: 'TEXT' },
    signals.map((one) => [one.accountId, one.period, one.barrier, one.recallAt, sender]),
    (n) => `INSERT INTO quota_signal (replica, account_id, period, barrier, recall_at)
     SELECT DISTINCT l.replica, l.account_id, l.period, ${n.cell('barrier')}, ${n.cell('recall_at')}
     FROM ${n.table} CROSS JOIN quota_lease l
     WHERE l.open = 1 AND l.account_id = ${n.cell('account_id')} AND l.period = ${n.cell('period')}
       AND l.replica <> ${n.cell('sender')}
     ON CONFLICT (replica, account_id, period) DO UPDATE SET barrier = excluded.barrier, recall_at = excluded.recall_at`,
  );
}

/** Takes the signals for a process: each is read once. A lost one is sent again while somebody waits for its answer. */
export async function takeSignals(engine: Engine, replica: string): Promise<Signal[]> {
  const [waiting] = await engine.read`SELECT 1 AS n FROM quota_signal WHERE replica = ${replica} LIMIT 1`;
  if (!waiting) return [];
  return engine.write(async (tx) => {
    const { placeholder: p } = engine;
    const taken = `DELETE FROM quota_signal WHERE replica = ${p(1)} RETURNING ${SIGNAL.columns}`;
    return (await tx.unsafe(taken, [replica])).map(SIGNAL.read);
  });
}

/** Signals of an account's month, as the period has them. */
export function signalOf(of: AccountPeriod & { barrier: number; recallAt: number }): Signal {
  const { accountId, period, barrier, recallAt } = of;
  return { accountId, period, barrier, recallAt };
}
