import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, rowReader } from '../engine/rows.ts';
import { listOf } from '../engine/statements.ts';
import { QuotaChanges } from './changes.ts';
import { checkQuota } from './check.ts';
import { claimEvents, listEvents, type QuotaEvent, recordSent } from './events.ts';
import { foldSettled } from './fold.ts';
import { HOLD_MS, type SyncAnswer, type SyncRequest } from './model.ts';
import type { Period } from './period.ts';
import {
  countOpenLeases,
  keyOf,
  LEASE,
  lockPeriods,
  readLeases,
  readQuotas,
  writeLeases,
  writePeriods,
} from './rows.ts';
import { closeLease, settle } from './rules.ts';
import {
  readUsage,
  readUsageBeside,
  readUsageByDay,
  type Usage,
  type UsageBeside,
  type UsageDay,
} from './usage.ts';

/** With 100 leases per fold and a call per minute: more than thousands of pausing accounts leave behind. */
const FOLDS_PER_CALL = 40;

/** A barrier or a recall that lease holders must answer. */
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

/** An account's month. */
const ACCOUNT_PERIOD = rowReader<{ accountId: string; period: Period }>({
  accountId: asText,
  period: asNumber,
});

/** Quotas, leases and usage. The rules are in rules.ts; this class runs them in transactions. */
export class QuotaStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Applies many messages in one transaction. The answers are in the order of the requests. */
  async sync(requests: readonly SyncRequest[]): Promise<SyncAnswer[]> {
    if (requests.length === 0) return [];
    const engine = this.#engine;
    return engine.write(async (tx) => {
      const accountIds = [...new Set(requests.map((request) => request.accountId))];
      const leaseIds = requests.map((request) => request.leaseId);
      // The lock comes first: another holder may change the period or the lease while this transaction waits for it. The
      // reads are pipelined behind it, because other replicas wait while the lock is held.
      const [periods, now, leases, quotas, openLeases] = await Promise.all([
        lockPeriods(engine, tx, requests),
        engine.now(tx),
        readLeases(engine, tx, leaseIds),
        readQuotas(engine, tx, accountIds),
        countOpenLeases(engine, tx, accountIds),
      ]);
      const known = new Map(leases.map((lease) => [lease.leaseId, lease]));

      const changes = new QuotaChanges(now);
      const answers = requests.map((request) => {
        const period = periods.get(keyOf(request))!;
        const before = known.get(request.leaseId);
        const quota = quotas.get(request.accountId) ?? 0;
        const context = { quota, openLeases: openLeases.get(keyOf(request)) ?? 0, now };
        const { answer, lease } = settle(period, before, request, context);
        if (lease) {
          known.set(lease.leaseId, lease);
          changes.add(period, before, lease, quota);
        }
        return answer;
      });
      await changes.write(engine, tx);
      return answers;
    });
  }

  /** Asks every lease holder of the account to report what it has spent. Returns the number of the barrier. */
  async raiseBarrier(accountId: string, period: Period): Promise<number> {
    const engine = this.#engine;
    return engine.write(async (tx) => {
      const [state] = (await lockPeriods(engine, tx, [{ accountId, period }])).values();
      state!.barrier++;
      state!.signalledAt = await engine.now(tx);
      await writePeriods(engine, tx, [state!]);
      return state!.barrier;
    });
  }

  /** The barriers and recalls since a time of the ledger's clock. One index lookup. */
  async signals(since: number): Promise<Signal[]> {
    const { read, placeholder: p } = this.#engine;
    const select = `SELECT ${SIGNAL.columns} FROM quota_period WHERE signalled_at > ${p(1)}`;
    return (await read.unsafe(select, [since])).map(SIGNAL.read);
  }

  usage(accountId: string, period: Period, barrier?: number): Promise<Usage> {
    return readUsage(this.#engine, accountId, period, barrier);
  }

  usageBeside(accountId: string, period: Period, leaseId: string): Promise<UsageBeside> {
    return readUsageBeside(this.#engine, accountId, period, leaseId);
  }

  usageByDay(accountId: string, fromDay: number, toDay: number): Promise<UsageDay[]> {
    return readUsageByDay(this.#engine, accountId, fromDay, toDay);
  }

  /**
   * Closes the leases whose holder has been silent for longer than `HOLD_MS`, and returns their unreported units to the
   * pool. Returns the number of leases.
   */
  async releaseLost(): Promise<number> {
    const engine = this.#engine;
    const { placeholder: p } = engine;
    const silentSince = (await engine.now(engine.read)) - HOLD_MS;
    const seen = await engine.read.unsafe(
      `SELECT ${ACCOUNT_PERIOD.columns} FROM quota_lease
       WHERE open = 1 AND expires_at < ${p(1)} ORDER BY expires_at LIMIT 100`,
      [silentSince],
    );
    if (seen.length === 0) return 0;
    return engine.write(async (tx) => {
      const periods = await lockPeriods(engine, tx, seen.map(ACCOUNT_PERIOD.read));
      const accountIds = [...new Set([...periods.values()].map((period) => period.accountId))];
      const rows = await tx.unsafe(
        `SELECT ${LEASE.columns} FROM quota_lease
         WHERE open = 1 AND account_id IN (${listOf(engine, accountIds.length)})`,
        accountIds,
      );
      const lost = rows
        .map(LEASE.read)
        .filter((lease) => lease.expiresAt < silentSince && periods.has(keyOf(lease)));
      for (const lease of lost) closeLease(periods.get(keyOf(lease))!, lease);
      await writeLeases(engine, tx, lost);
      await writePeriods(engine, tx, [...periods.values()]);
      return lost.length;
    });
  }

  /** Folds settled leases of past months, in small batches. Returns how many; the next call continues. */
  async foldSettled(): Promise<number> {
    let folded = 0;
    for (let i = 0; i < FOLDS_PER_CALL; i++) {
      const count = await foldSettled(this.#engine);
      if (count === 0) break;
      folded += count;
    }
    return folded;
  }

  /** The events of an account, oldest first. */
  events(accountId: string): Promise<QuotaEvent[]> {
    return listEvents(this.#engine, accountId);
  }

  claimEvents(claimMs: (attempts: number) => number): Promise<QuotaEvent[]> {
    return claimEvents(this.#engine, claimMs);
  }

  eventSent(event: Pick<QuotaEvent, 'accountId' | 'period' | 'percent'>, at: number): Promise<void> {
    return recordSent(this.#engine, event, at);
  }

  /** Verifies the invariants over the whole ledger. Returns one line for each violation. */
  check(): Promise<string[]> {
    return checkQuota(this.#engine);
  }

  /** The ledger's own time, which decides the month. */
  now(): Promise<number> {
    return this.#engine.now(this.#engine.read);
  }
}
