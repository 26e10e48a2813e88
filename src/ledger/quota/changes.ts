import type { Day } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import type { RowValues, Sql } from '../engine/rows.ts';
import { crossThresholds, insertEvents } from './events.ts';
import type { LeaseState, PeriodState } from './model.ts';
import { updateLeases, writeLeases } from './rows/leases.ts';
import { updatePeriods, writePeriods } from './rows/periods.ts';
import { dayOfSpend } from './rules.ts';
import { type Signal, sendSignals, signalOf } from './signals.ts';

/** What an account has spent on a day, for one endpoint, since the last report. */
interface DayCount {
  readonly day: Day;
  readonly endpoint: string;
  count: number;
}

/** Collects the writes of one transaction, so that many accounts take few statements. */
export class QuotaChanges {
  readonly #now: number;
  readonly #periods = new Set<PeriodState>();
  /** The periods whose row is missing or of which indexed columns change. */
  readonly #wholePeriods = new Set<PeriodState>();
  readonly #leases = new Map<string, LeaseState>();
  /** The leases that were opened, adopted or closed: their other columns change too. */
  readonly #turned = new Set<string>();
  readonly #days = new Map<PeriodState, DayCount[]>();
  readonly #events: RowValues[] = [];
  readonly #signals: Signal[] = [];

  constructor(now: number) {
    this.#now = now;
  }

  /** The period has no row yet. */
  open(period: PeriodState): PeriodState {
    this.#wholePeriods.add(period);
    return period;
  }

  add(period: PeriodState, before: LeaseState | undefined, lease: LeaseState, quota: number): void {
    this.#periods.add(period);
    this.#leases.set(lease.leaseId, lease);
    const isTurned = !before?.open || !lease.open || before.replica !== lease.replica;
    if (isTurned) this.#turned.add(lease.leaseId);
    this.#addDay(period, before, lease);
    for (const percent of crossThresholds(period, quota)) {
      this.#events.push([period.accountId, period.period, percent, period.used, quota, this.#now]);
    }
  }

  /** One statement cannot change a row twice, so the counts of an account's leases are added up. */
  #addDay(period: PeriodState, before: LeaseState | undefined, { spentBy }: LeaseState): void {
    const day = dayOfSpend(before, period.period, this.#now);
    const counts = this.#days.get(period) ?? [];
    for (const endpoint in spentBy) {
      const count = spentBy[endpoint]! - (before?.spentBy[endpoint] ?? 0);
      if (count === 0) continue;
      const known = counts.find((one) => one.endpoint === endpoint && one.day === day);
      if (known) known.count += count;
      else counts.push({ day, endpoint, count });
    }
    if (counts.length > 0) this.#days.set(period, counts);
  }

  /** The period's holders are asked for units. */
  signal(period: PeriodState): void {
    this.#wholePeriods.add(period);
    this.#signals.push(signalOf(period));
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
      insertEvents(engine, tx, this.#events),
    ]);
    await sendSignals(engine, tx, this.#signals, sender);
  }

  async #writePeriods(engine: Engine, tx: Sql): Promise<void> {
    await Promise.all([
      writePeriods(engine, tx, [...this.#wholePeriods]),
      updatePeriods(
        engine,
        tx,
        [...this.#periods].filter((period) => !this.#wholePeriods.has(period)),
      ),
    ]);
  }

  async #writeDays(engine: Engine, tx: Sql): Promise<void> {
    if (this.#days.size === 0) return;
    await engine.forRows(
      tx,
      { account_id: 'TEXT', period: 'BIGINT', day: 'BIGINT', endpoint: 'TEXT', count: 'BIGINT' },
      [...this.#days].flatMap(([{ accountId, period }, counts]) =>
        counts.map(({ day, endpoint, count }): RowValues => [accountId, period, day, endpoint, count]),
      ),
      (n) => `INSERT INTO usage_day (account_id, period, day, endpoint, count)
       SELECT ${['account_id', 'period', 'day', 'endpoint', 'count'].map(n.cell).join(', ')} ${n.from} WHERE true
       ON CONFLICT (account_id, period, day, endpoint) DO UPDATE SET count = usage_day.count + excluded.count`,
    );
  }
}
