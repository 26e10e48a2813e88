import type { Engine } from '../engine/engine.ts';
import type { RowValues, Sql } from '../engine/rows.ts';
import { insertRows } from '../engine/statements.ts';
import type { LeaseState, PeriodState, SpentBy } from './model.ts';
import type { Period } from './period.ts';
import { keyOf, writeLeases, writePeriods } from './rows.ts';
import { dayOfSpend } from './rules.ts';
import { crossThresholds } from './thresholds.ts';

/** Collects the writes of one transaction, so that many accounts take few statements. */
export class QuotaChanges {
  readonly #now: number;
  readonly #periods = new Map<string, PeriodState>();
  readonly #leases = new Map<string, LeaseState>();
  readonly #days = new Map<string, [string, Period, number, string, number]>();
  readonly #events: RowValues[] = [];

  constructor(now: number) {
    this.#now = now;
  }

  add(period: PeriodState, before: LeaseState | undefined, lease: LeaseState, quota: number): void {
    this.#periods.set(keyOf(period), period);
    this.#leases.set(lease.leaseId, lease);
    this.#addDay(before, lease, before?.spentBy ?? {});
    for (const percent of crossThresholds(period, quota)) {
      this.#events.push([period.accountId, period.period, percent, period.used, quota, this.#now]);
    }
  }

  #addDay(before: LeaseState | undefined, lease: LeaseState, spentBefore: SpentBy): void {
    const day = dayOfSpend(before, lease.period, this.#now);
    for (const endpoint in lease.spentBy) {
      const count = lease.spentBy[endpoint]! - (spentBefore[endpoint] ?? 0);
      if (count === 0) continue;
      const key = `${keyOf(lease)} ${day} ${endpoint}`;
      const sum = count + (this.#days.get(key)?.[4] ?? 0);
      this.#days.set(key, [lease.accountId, lease.period, day, endpoint, sum]);
    }
  }

  async write(engine: Engine, tx: Sql): Promise<void> {
    await Promise.all([
      writePeriods(engine, tx, [...this.#periods.values()]),
      writeLeases(engine, tx, [...this.#leases.values()]),
      insertRows(
        engine,
        tx,
        'usage_day (account_id, period, day, endpoint, count)',
        [...this.#days.values()],
        `ON CONFLICT (account_id, period, day, endpoint) DO UPDATE SET count = usage_day.count + excluded.count`,
      ),
      insertRows(
        engine,
        tx,
        'quota_event (account_id, period, percent, used, quota, at)',
        this.#events,
        'ON CONFLICT DO NOTHING',
      ),
    ]);
  }
}
