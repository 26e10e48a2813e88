import { yieldToRequests } from '../../runtime/yield.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, rowReader } from '../engine/rows.ts';
import { QuotaChanges } from './changes.ts';
import { checkQuota } from './check.ts';
import { claimEvents, type EventId, listEvents, type QuotaEvent, recordSent } from './events.ts';
import { deleteUnused, foldSettled } from './fold.ts';
import { endHolder, releaseHolders, renewIfDue, type SharedRight } from './holders.ts';
import { HOLD_MS, type SyncAnswer, type SyncRequest } from './model.ts';
import type { Period } from './period.ts';
import { readLostLeases, writeLeases } from './rows/leases.ts';
import { type AccountPeriod, keyOf, lockPeriods, writePeriods } from './rows/periods.ts';
import { newPeriod, readSyncRows } from './rows/sync-rows.ts';
import { closeLease, settle } from './rules.ts';
import { type Signal, sendSignals, signalOf, takeSignals } from './signals.ts';
import {
  type ReportedUsage,
  readUsage,
  readUsageByDay,
  readUsages,
  readUsageWithoutLease,
  type Usage,
  type UsageDay,
  type UsageWithoutLease,
} from './usage.ts';

/** With 100 leases per fold and a call per minute: more than thousands of pausing accounts leave behind. */
const FOLDS_PER_CALL = 40;

/** A process may hold leases of 20,000 accounts. With 4,000 in a call per minute, one other process frees them in five. */
const RELEASES_PER_CALL = 40;
const LEASES_PER_RELEASE = 100;

/** About 2 ms on SQLite. With a call per minute, a million leases are searched in half a day. */
const LEASES_PER_SEARCH = 1_500;

const ACCOUNT_PERIOD = rowReader<AccountPeriod>({
  accountId: asText,
  period: asNumber,
});

/** Quotas, leases and usage. The rules are in rules.ts; this class runs them in transactions. */
export class QuotaStore {
  readonly #engine: Engine;
  /** After which lease the search for unused ones continues. */
  #searchedTo = '';

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Applies many messages in one transaction, and renews the sender's right to spend from its leases. The answers are in
   * the order of the requests.
   */
  async sync(requests: readonly SyncRequest[], sender = requests[0]?.replica): Promise<SyncAnswer[]> {
    if (requests.length === 0 || sender === undefined) return [];
    const engine = this.#engine;
    return engine.write(async (tx) => {
      const now = await engine.now(tx);
      // The locks come first. The rest is pipelined behind them, because other replicas wait while a lock is held.
      const [{ periods, leases, quotas }, holding] = await Promise.all([
        readSyncRows(engine, tx, requests),
        renewIfDue(tx, sender, now),
      ]);
      const changes = new QuotaChanges(now);
      const answers = requests.map((request) => {
        const quota = quotas.get(request.accountId);
        if (quota === undefined) return answerWithoutAccount(request, holding);
        const period = periods.getOrInsertComputed(keyOf(request), () => changes.open(newPeriod(request)));
        const before = leases.get(request.leaseId);
        const recalledBefore = period.recallAt;
        const { answer, lease } = settle(period, before, request, { quota, ...holding });
        if (lease) {
          leases.set(lease.leaseId, lease);
          changes.add(period, before, lease, quota);
        }
        if (period.recallAt !== recalledBefore) changes.signal(period);
        return answer;
      });
      await changes.write(engine, tx, sender);
      return answers;
    });
  }

  /** Renews the sender's right to spend from its leases. */
  async renew(replica: string): Promise<SharedRight> {
    const engine = this.#engine;
    return engine.write(async (tx) => renewIfDue(tx, replica, await engine.now(tx)));
  }

  /** A process has settled its leases and stops. */
  leave(replica: string): Promise<void> {
    return endHolder(this.#engine, replica);
  }

  /**
   * Asks every lease holder of the account, except for the sender, to report what it has spent. Returns the number of the
   * barrier.
   */
  async raiseBarrier(accountId: string, period: Period, sender = ''): Promise<number> {
    const engine = this.#engine;
    return engine.write(async (tx) => {
      const [state] = (await lockPeriods(engine, tx, [{ accountId, period }])).values();
      state!.barrier++;
      state!.signalledAt = await engine.now(tx);
      await writePeriods(engine, tx, [state!]);
      await sendSignals(engine, tx, [signalOf(state!)], sender);
      return state!.barrier;
    });
  }

  /** The barriers and recalls for a process since the last call. */
  signals(replica: string): Promise<Signal[]> {
    return takeSignals(this.#engine, replica);
  }

  usage(accountId: string, period: Period, barrier?: number): Promise<Usage> {
    return readUsage(this.#engine, accountId, period, barrier);
  }

  usages(accountIds: readonly string[], period: Period): Promise<Map<string, ReportedUsage>> {
    return readUsages(this.#engine, accountIds, period);
  }

  usageWithoutLease(accountId: string, period: Period, leaseId: string): Promise<UsageWithoutLease> {
    return readUsageWithoutLease(this.#engine, accountId, period, leaseId);
  }

  usageByDay(accountId: string, fromDay: number, toDay: number): Promise<UsageDay[]> {
    return readUsageByDay(this.#engine, accountId, fromDay, toDay);
  }

  /**
   * Closes leases of processes that have been silent for longer than `HOLD_MS`, and returns their unreported units to the
   * pool, in small batches. Returns the number of leases; the next call continues.
   */
  async releaseLost(): Promise<number> {
    const silentSince = (await this.#engine.now(this.#engine.read)) - HOLD_MS;
    await releaseHolders(this.#engine, silentSince);
    let released = 0;
    for (let i = 0; i < RELEASES_PER_CALL; i++) {
      const count = await this.#releaseSome(silentSince);
      if (count === 0) break;
      released += count;
      await yieldToRequests(); // SQLite runs on the thread that serves them
    }
    return released;
  }

  async #releaseSome(silentSince: number): Promise<number> {
    const engine = this.#engine;
    const { placeholder: p } = engine;
    // Two parts, each with an index of its own: with OR, all open leases are read.
    const seen = await engine.read.unsafe(
      `SELECT ${ACCOUNT_PERIOD.columns} FROM quota_lease WHERE open = 1 AND expires_at < ${p(1)}
       UNION ALL SELECT ${ACCOUNT_PERIOD.columnsOf('l')} FROM quota_holder h CROSS JOIN quota_lease l
         WHERE h.released = 1 AND l.replica = h.replica AND l.open = 1
       LIMIT ${LEASES_PER_RELEASE}`,
      [silentSince],
    );
    if (seen.length === 0) return 0;
    return engine.write(async (tx) => {
      const periods = await lockPeriods(engine, tx, seen.map(ACCOUNT_PERIOD.read));
      const accountIds = [...periods.values()].map((period) => period.accountId);
      const found = await readLostLeases(engine, tx, accountIds, silentSince);
      const lost = found.filter((lease) => periods.has(keyOf(lease)));
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

  /** Deletes leases that were settled unused, of some leases. Returns how many; the next call continues. */
  async deleteUnused(count = LEASES_PER_SEARCH): Promise<number> {
    const { deleted, last = '' } = await deleteUnused(this.#engine, this.#searchedTo, count);
    this.#searchedTo = last;
    return deleted;
  }

  /** The events of an account, oldest first. */
  events(accountId: string): Promise<QuotaEvent[]> {
    return listEvents(this.#engine, accountId);
  }

  claimEvents(claimMs: (attempts: number) => number): Promise<QuotaEvent[]> {
    return claimEvents(this.#engine, claimMs);
  }

  eventSent(event: EventId, at: number): Promise<void> {
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

/** The answer to a message about an account that was deleted, which writes nothing: its rows are deleted, or will be. */
function answerWithoutAccount(request: SyncRequest, holding: SharedRight): SyncAnswer {
  return settle(newPeriod(request), undefined, request, { quota: 0, ...holding }).answer;
}
