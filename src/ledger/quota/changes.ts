import type { Engine } from '../engine/engine.ts';
import type { RowValues, Sql } from '../engine/rows.ts';
import { insertRows } from '../engine/statements.ts';
import { crossThresholds } from './events.ts';
import type { LeaseState, PeriodState, SpentBy } from './model.ts';
import type { Period } from './period.ts';
import { keyOf, updateLeases, updatePeriods, writeLeases, writePeriods } from './rows.ts';
import { dayOfSpend } from './rules.ts';
import { type Signal, sendSignals, signalOf } from './signals.ts';

/** Collects the writes of one transaction, so that many accounts take few statements. */
export class QuotaChanges {
  readonly #now: number;
  readonly #periods = new Map<string, PeriodState>();
  readonly #leases = new Map<string, LeaseState>();
  /** The leases that were opened or closed: their other columns change too. */
  readonly #turned = new Set<string>();
  readonly #days = new Map<string, [string, Period, number, string, number]>();
  readonly #events: RowValues[] = [];
  readonly #signals = new Map<string, Signal>();

  constructor(now: number) {
    this.#now = now;
  }

  add(period: PeriodState, before: LeaseState | undefined, lease: LeaseState, quota: number): void {
    this.#periods.set(keyOf(period), period);
    this.#leases.set(lease.leaseId, lease);
    if (!before?.open || !lease.open) this.#turned.add(lease.leaseId);
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

  /** The period's holders are asked for units. */
  signal(period: PeriodState): void {
    this.#signals.set(keyOf(period), signalOf(period));
  }

  /** Writes all changes. `sender` gets no signals. */
  async write(engine: Engine, tx: Sql, sender: string): Promise<void> {
    const leases = [...this.#leases.values()];
    const isTurned = ({ leaseId }: LeaseState) => this.#turned.has(leaseId);
    await Promise.all([
      this.#writePeriods(engine, tx),
      writeLeases(engine, tx, leases.filter(isTurned)),
      updateLeases(
        engine,
        tx,
        leases.filter((lease) => !isTurned(lease)),
      ),
      this.#writeDays(engine, tx),
      insertRows(
        engine,
        tx,
        'quota_event (account_id, period, percent, used, quota, at)',
        this.#events,
        'ON CONFLICT DO NOTHING',
      ),
    ]);
    await sendSignals(engine, tx, [...this.#signals.values()], sender);
  }

  async #writePeriods(engine: Engine, tx: Sql): Promise<void> {
    const periods = [...this.#periods.values()];
    const isRecalled = (period: PeriodState) => this.#signals.has(keyOf(period));
    await writePeriods(engine, tx, periods.filter(isRecalled));
    await updatePeriods(
      engine,
      tx,
      periods.filter((period) => !isRecalled(period)),
    );
  }

  async #writeDays(engine: Engine, tx: Sql): Promise<void> {
    if (this.#days.size === 0) return;
    const rows = engine.jsonRows(engine.placeholder(1), {
      account_id: 'TEXT',
      period: 'BIGINT',
      day: 'BIGINT',
      endpoint: 'TEXT',
      count: 'BIGINT',
    });
    await tx.unsafe(
      `INSERT INTO usage_day (account_id, period, day, endpoint, count)
       SELECT account_id, period, day, endpoint, count FROM ${rows} AS n WHERE true
       ON CONFLICT (account_id, period, day, endpoint) DO UPDATE SET count = usage_day.count + excluded.count`,
      [JSON.stringify([...this.#days.values()])],
    );
  }
}
