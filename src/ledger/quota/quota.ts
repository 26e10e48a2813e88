import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, onlyRow, type Row } from '../engine/rows.ts';
import { QuotaChanges } from './changes.ts';
import { checkQuota } from './check.ts';
import { foldSettled } from './fold.ts';
import type { Period } from './period.ts';
import {
  countOpenLeases,
  keyOf,
  lockPeriods,
  placeholders,
  readLeases,
  readQuotas,
  toLease,
  writeLeases,
  writePeriods,
} from './rows.ts';
import {
  closeLease,
  HOLD_MS,
  LEASE_MS,
  type LeaseState,
  type SyncAnswer,
  type SyncRequest,
  settle,
} from './rules.ts';

/** 4,000 leases a minute on each process: more than thousands of accounts make that pause all the time. */
const FOLDS_AT_A_TIME = 40;

/** What an account has used in a month, and how fresh that is. */
export interface Usage {
  used: number;
  quota: number;
  /** Open leases that have not yet said what they spent before the barrier; 0 means that `used` is exact. */
  behind: number;
  /** The ledger's time for which `used` holds. */
  asOf: number;
}

/** What an account has used in a month beside one lease. */
export interface UsageBeside {
  usedBeside: number;
  /** How many other leases are open. */
  otherLeases: number;
  quota: number;
  /** The ledger's time for which it holds. */
  asOf: number;
}

/** A barrier or a recall that holders should look at. */
export interface Signal {
  accountId: string;
  period: Period;
  barrier: number;
  recallAt: number;
}

export interface UsageDay {
  day: number;
  endpoint: string;
  count: number;
}

/** An account reached a share of its quota: once each per month. */
export interface QuotaEvent {
  accountId: string;
  period: Period;
  percent: number;
  used: number;
  quota: number;
  at: number;
  /** When it was told; null while it has not been. */
  sentAt: number | null;
  /** How often telling it was begun. */
  attempts: number;
}

/** Quotas, leases and usage. The rules are in quota-rules.ts; here they are put into transactions. */
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
      // The lock first and each of the others in a statement of its own behind it: another holder may have moved the
      // month's end or the lease while this one waited. They are sent together and waited for once, for while the lock is
      // held the other replicas wait.
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

  /** Asks every holder of the account's units to say what it has spent; gives the barrier's number. */
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

  /** The barriers and recalls since a moment of the ledger's time. One short look at an index. */
  async signals(since: number): Promise<Signal[]> {
    const rows = await this.#engine
      .read`SELECT account_id, period, barrier, recall_at FROM quota_period WHERE signalled_at > ${since}`;
    return rows.map((row: Row) => ({
      accountId: asText(row.account_id),
      period: asNumber(row.period),
      barrier: asNumber(row.barrier),
      recallAt: asNumber(row.recall_at),
    }));
  }

  /** What is used, with the leases that are behind the given barrier, or the newest one. */
  async usage(accountId: string, period: Period, barrier?: number): Promise<Usage> {
    const { read } = this.#engine;
    const now = await this.#engine.now(read);
    // One statement, so that the count and the leases that are behind belong together.
    const row = onlyRow(
      await read`SELECT
        coalesce(max(p.used), 0) AS used, count(l.lease_id) AS behind, min(l.expires_at) AS oldest,
        (SELECT plan.quota FROM account JOIN plan ON plan.name = account.plan WHERE account.id = ${accountId}) AS quota
      FROM quota_period p LEFT JOIN quota_lease l
        ON l.open = 1 AND l.account_id = p.account_id AND l.period = p.period
        AND l.barrier_ack < coalesce(CAST(${barrier ?? null} AS BIGINT), p.barrier)
      WHERE p.account_id = ${accountId} AND p.period = ${period}`,
    );
    const behind = asNumber(row.behind);
    return {
      used: asNumber(row.used),
      quota: asNumber(row.quota ?? 0),
      behind,
      asOf: behind === 0 ? now : asNumber(row.oldest) - LEASE_MS,
    };
  }

  /**
   * What is used beside one lease, and how many other leases are open. With none, the sum with what that lease has spent
   * is exact, and nobody needs to be asked.
   */
  async usageBeside(accountId: string, period: Period, leaseId: string): Promise<UsageBeside> {
    const { read } = this.#engine;
    const now = await this.#engine.now(read);
    const row = onlyRow(
      await read`SELECT
        (SELECT used FROM quota_period WHERE account_id = ${accountId} AND period = ${period}) AS used,
        (SELECT spent FROM quota_lease WHERE lease_id = ${leaseId}) AS spent,
        (SELECT count(*) FROM quota_lease
          WHERE open = 1 AND account_id = ${accountId} AND period = ${period} AND lease_id <> ${leaseId}) AS others,
        (SELECT plan.quota FROM account JOIN plan ON plan.name = account.plan WHERE account.id = ${accountId}) AS quota`,
    );
    return {
      usedBeside: asNumber(row.used ?? 0) - asNumber(row.spent ?? 0),
      otherLeases: asNumber(row.others),
      quota: asNumber(row.quota ?? 0),
      asOf: now,
    };
  }

  async usageByDay(accountId: string, fromDay: number, toDay: number): Promise<UsageDay[]> {
    const rows = await this.#engine.read`SELECT day, endpoint, sum(count) AS count FROM usage_day
      WHERE account_id = ${accountId} AND day >= ${fromDay} AND day <= ${toDay}
      GROUP BY day, endpoint ORDER BY day, endpoint`;
    return rows.map((row: Row) => ({
      day: asNumber(row.day),
      endpoint: asText(row.endpoint),
      count: asNumber(row.count),
    }));
  }

  /**
   * Ends the leases whose holder has been silent for longer than the hold, and gives back what they had not
   * reported as spent. Says how many.
   */
  async releaseLost(): Promise<number> {
    const engine = this.#engine;
    const silentSince = (await engine.now(engine.read)) - HOLD_MS;
    const seen = await engine.read`SELECT account_id, period FROM quota_lease
      WHERE open = 1 AND expires_at < ${silentSince} ORDER BY expires_at LIMIT 100`;
    if (seen.length === 0) return 0;
    return engine.write(async (tx) => {
      const of = seen.map((row: Row) => ({
        accountId: asText(row.account_id),
        period: asNumber(row.period),
      }));
      const periods = await lockPeriods(engine, tx, of);
      const accountIds = [...new Set([...periods.values()].map((period) => period.accountId))];
      const rows = await tx.unsafe(
        `SELECT * FROM quota_lease WHERE open = 1 AND account_id IN (${placeholders(engine, accountIds.length)})`,
        accountIds,
      );
      const lost: LeaseState[] = rows.map(toLease).filter((l) => l.expiresAt < silentSince);
      const held = lost.filter((lease) => periods.has(keyOf(lease)));
      for (const lease of held) closeLease(periods.get(keyOf(lease))!, lease);
      await writeLeases(engine, tx, held);
      await writePeriods(engine, tx, [...periods.values()]);
      return held.length;
    });
  }

  /** Folds settled leases of months that are long over, in small pieces. Says how many; the rest waits for the next time. */
  async foldSettled(): Promise<number> {
    let folded = 0;
    for (let i = 0; i < FOLDS_AT_A_TIME; i++) {
      const count = await foldSettled(this.#engine);
      if (count === 0) break;
      folded += count;
    }
    return folded;
  }

  /** The events of an account in the order they happened. */
  async events(accountId: string): Promise<QuotaEvent[]> {
    const rows = await this.#engine
      .read`SELECT * FROM quota_event WHERE account_id = ${accountId} ORDER BY at, percent`;
    return rows.map(toEvent);
  }

  /**
   * Takes the events that nobody has told yet, each for this caller alone until its claim runs out: a caller that dies
   * with one leaves it to the next.
   */
  async claimEvents(claimMs: (attempts: number) => number): Promise<QuotaEvent[]> {
    const engine = this.#engine;
    const waiting = onlyRow(await engine.read`SELECT count(*) AS n FROM quota_event WHERE sent_at IS NULL`);
    if (asNumber(waiting.n) === 0) return [];
    return engine.write(async (tx) => {
      const now = await engine.now(tx);
      const rows = await tx`UPDATE quota_event SET attempts = attempts + 1, claimed_until = ${now} + 1
        WHERE sent_at IS NULL AND claimed_until <= ${now} RETURNING *`;
      const events: QuotaEvent[] = rows.map(toEvent);
      for (const { accountId, period, percent, attempts } of events) {
        await tx`UPDATE quota_event SET claimed_until = ${now + claimMs(attempts)}
          WHERE account_id = ${accountId} AND period = ${period} AND percent = ${percent}`;
      }
      return events;
    });
  }

  /** Notes that an event was told; the first time is kept. */
  async eventSent(event: Pick<QuotaEvent, 'accountId' | 'period' | 'percent'>, at: number): Promise<void> {
    await this.#engine.write(async (tx) => {
      await tx`UPDATE quota_event SET sent_at = coalesce(sent_at, ${at}) WHERE account_id = ${event.accountId}
        AND period = ${event.period} AND percent = ${event.percent}`;
    });
  }

  /** Verifies the invariants over the whole ledger; one line for each thing that is wrong. */
  check(): Promise<string[]> {
    return checkQuota(this.#engine);
  }

  /** The ledger's own time: the month goes by it. */
  now(): Promise<number> {
    return this.#engine.now(this.#engine.read);
  }
}

function toEvent(row: Row): QuotaEvent {
  return {
    accountId: asText(row.account_id),
    period: asNumber(row.period),
    percent: asNumber(row.percent),
    used: asNumber(row.used),
    quota: asNumber(row.quota),
    at: asNumber(row.at),
    sentAt: row.sent_at === null ? null : asNumber(row.sent_at),
    attempts: asNumber(row.attempts),
  };
}
