import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, nullable, onlyRow, type RowValues, rowReader, type Sql } from '../engine/rows.ts';
import { insertRows } from '../engine/statements.ts';
import type { PeriodState } from './model.ts';
import type { Period } from './period.ts';

/** An account reached a share of its quota. Each share is reported once a month, and again if it is reached of another quota. */
export interface QuotaEvent {
  accountId: string;
  period: Period;
  percent: number;
  used: number;
  quota: number;
  at: number;
  /** When it was delivered; null until then. */
  sentAt: number | null;
  /** How many deliveries were started. */
  attempts: number;
}

/** What identifies an event. */
export type EventId = Pick<QuotaEvent, 'accountId' | 'period' | 'percent' | 'quota'>;

const EVENT = rowReader<QuotaEvent>({
  accountId: asText,
  period: asNumber,
  percent: asNumber,
  used: asNumber,
  quota: asNumber,
  at: asNumber,
  sentAt: nullable(asNumber),
  attempts: asNumber,
});

export async function listEvents({ read, placeholder: p }: Engine, accountId: string): Promise<QuotaEvent[]> {
  const select = `SELECT ${EVENT.columns} FROM quota_event WHERE account_id = ${p(1)} ORDER BY at, percent`;
  return (await read.unsafe(select, [accountId])).map(EVENT.read);
}

/** After an outage of their receiver, thousands may wait: they must not all be posted at the same moment. */
const EVENTS_PER_CLAIM = 100;

/** Claims the oldest undelivered events. Another caller can claim an event when this claim has expired. */
export async function claimEvents(
  engine: Engine,
  claimMs: (attempts: number) => number,
): Promise<QuotaEvent[]> {
  const { read, placeholder: p } = engine;
  const waiting = onlyRow(await read`SELECT count(*) AS n FROM quota_event WHERE sent_at IS NULL`);
  if (asNumber(waiting.n) === 0) return [];
  return engine.write(async (tx) => {
    const now = await engine.now(tx);
    const rows = await tx.unsafe(
      `UPDATE quota_event SET attempts = attempts + 1, claimed_until = ${p(1)}
       WHERE sent_at IS NULL AND claimed_until <= ${p(2)} AND (account_id, period, percent) IN (
         SELECT account_id, period, percent FROM quota_event
         WHERE sent_at IS NULL AND claimed_until <= ${p(3)} ORDER BY at LIMIT ${EVENTS_PER_CLAIM})
       RETURNING ${EVENT.columns}`,
      [now + 1, now, now],
    );
    const events = rows.map(EVENT.read);
    for (const { accountId, period, percent, attempts } of events) {
      await tx`UPDATE quota_event SET claimed_until = ${now + claimMs(attempts)}
        WHERE account_id = ${accountId} AND period = ${period} AND percent = ${percent}`;
    }
    return events;
  });
}

/** Adds events. One of another quota takes the place of an earlier one of the same share. */
export async function insertEvents(engine: Engine, tx: Sql, events: readonly RowValues[]): Promise<void> {
  const change = ['used', 'quota', 'at'].map((name) => `${name} = excluded.${name}`).join(', ');
  await insertRows(
    engine,
    tx,
    'quota_event (account_id, period, percent, used, quota, at)',
    events,
    `ON CONFLICT (account_id, period, percent) DO UPDATE SET ${change}, sent_at = NULL, attempts = 0, claimed_until = 0
     WHERE quota_event.quota <> excluded.quota`,
  );
}

/** Records that an event was delivered; the first time is kept. */
export async function recordSent(
  engine: Engine,
  { accountId, period, percent, quota }: EventId,
  at: number,
): Promise<void> {
  await engine.write(async (tx) => {
    await tx`UPDATE quota_event SET sent_at = coalesce(sent_at, ${at}) WHERE account_id = ${accountId}
      AND period = ${period} AND percent = ${percent} AND quota = ${quota}`;
  });
}

const THRESHOLDS_PERCENT = [75, 90, 100] as const;

/** How many more units reach the next threshold. */
export function unitsToNextThreshold(used: number, quota: number): number {
  const next = THRESHOLDS_PERCENT.map((percent) => Math.ceil((percent * quota) / 100)).find(
    (at) => at > used,
  );
  return next === undefined ? Number.POSITIVE_INFINITY : next - used;
}

/** The thresholds that were reached and not yet reported; marks them as reported. */
export function crossThresholds(period: PeriodState, quota: number): number[] {
  if (quota <= 0) return [];
  const reached = THRESHOLDS_PERCENT.filter((percent) => period.used * 100 >= percent * quota);
  const fresh = reached.filter((percent) => percent > period.notified);
  period.notified = Math.max(0, ...reached); // falls when the quota was raised
  return fresh;
}
