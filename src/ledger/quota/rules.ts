/**
 * The rules of a quota, without SQL. An account has a quota per month; replicas lease blocks of it and spend them in
 * memory. Invariants:
 *
 *     period.granted = Σ granted of open leases + Σ spent of closed leases + folded
 *     period.used    = Σ spent of all leases + folded
 *
 * So `granted ≤ quota` means that no replica can admit a request over the quota.
 */

import { utcDay } from '../../market/day.ts';
import {
  BLOCK_MAX,
  type LeaseState,
  type PeriodState,
  type QuotaContext,
  RECALL_MS,
  type SpentBy,
  type SyncAnswer,
  type SyncRequest,
} from './model.ts';
import { type Period, periodEnd, periodOf, periodStart } from './period.ts';

/**
 * Applies one message to the locked period and its lease. Changes `period` in place; returns the lease to store, or
 * undefined when nothing changed.
 */
export function settle(
  period: PeriodState,
  known: LeaseState | undefined,
  request: SyncRequest,
  context: QuotaContext,
): { answer: SyncAnswer; lease: LeaseState | undefined } {
  if (!known && isOpening(request)) {
    if (period.period !== periodOf(context.now) || context.leaseMs === 0)
      return { answer: elsewhere(request, context), lease: undefined };
    // It has spent nothing, so no older barrier waits for it.
    const opened = newLease(request, true, period.barrier, context.now);
    adjustGrant(period, opened, request, context);
    return { answer: answerOf(period, opened, true, context), lease: opened };
  }
  if (!known && period.folded > 0) return { answer: folded(period, request, context), lease: undefined };
  const lease = known ? { ...known } : newLease(request, false, period.barrier, context.now);
  if (lease.open && request.replica !== lease.replica && !request.adopt)
    return late(period, lease, request, context);
  const needsNewSeq = request.adopt ? request.replica !== lease.replica : !request.close;
  if (lease.open && needsNewSeq && request.seq <= lease.seq) {
    return { answer: answerOf(period, lease, false, context), lease: undefined };
  }
  recordSpent(period, lease, request.spentBy);
  if (request.adopt && lease.open) adopt(period, lease, request, context);
  if (request.close) {
    closeLease(period, lease);
    lease.settled = true;
  }
  if (lease.open && !request.adopt) adjustGrant(period, lease, request, context);
  return { answer: answerOf(period, lease, true, context), lease };
}

/**
 * The lease goes to the next process on its spool, with the units that it holds. The spool has every count of the process
 * that died, so no barrier waits for it.
 */
function adopt(period: PeriodState, lease: LeaseState, request: SyncRequest, context: QuotaContext): void {
  if (lease.replica !== request.replica) lease.seq = request.seq;
  lease.replica = request.replica;
  lease.barrierAck = period.barrier;
  lease.syncedAt = context.now;
}

/**
 * A message of a process that has died arrives after another one has adopted its lease. It may not return or take units
 * that the new holder has; its counts are in the spool, so they are the new holder's too.
 */
function late(
  period: PeriodState,
  lease: LeaseState,
  request: SyncRequest,
  context: QuotaContext,
): { answer: SyncAnswer; lease: LeaseState } {
  recordSpent(period, lease, request.spentBy);
  return { answer: { ...answerOf(period, lease, false, context), state: 'closed' }, lease };
}

/** Closes a lease and returns its unspent units. Its `granted` stays for the record. */
export function closeLease(period: PeriodState, lease: LeaseState): void {
  if (!lease.open) return;
  period.granted -= lease.granted - totalOf(lease.spentBy);
  lease.open = false;
}

/**
 * The day that a lease's new spending belongs to. It happened between two flushes, so the day of the flush is accurate to
 * one flush interval. A spool that is delivered late was spent before the lease expired, and in its own month.
 */
export function dayOfSpend(known: LeaseState | undefined, period: Period, now: number): number {
  const latest = Math.min(now, known?.expiresAt ?? now, periodEnd(period) - 1);
  return utcDay(Math.max(latest, periodStart(period)));
}

export function totalOf(spentBy: SpentBy): number {
  let total = 0;
  for (const endpoint in spentBy) total += spentBy[endpoint]!;
  return total;
}

/**
 * A lease cannot spend before its first answer, so only a first message without spending may open one. Any other message
 * about an unknown lease comes from a spool, or the ledger was restored from a backup: it records a debt, not a lease that
 * can be spent from.
 */
function isOpening(request: SyncRequest): boolean {
  return request.seq === 1 && !request.close && totalOf(request.spentBy) === 0;
}

function newLease(request: SyncRequest, open: boolean, barrierAck: number, now: number): LeaseState {
  const { leaseId, accountId, period, replica } = request;
  return {
    leaseId,
    accountId,
    period,
    replica,
    granted: 0,
    spentBy: {},
    seq: 0,
    barrierAck,
    open,
    settled: false,
    expiresAt: now,
    syncedAt: now,
  };
}

/** `spent` only grows. A closed lease holds no grant, so late spending is added to the period's grant too. */
function recordSpent(period: PeriodState, lease: LeaseState, spentBy: SpentBy): void {
  const before = totalOf(lease.spentBy);
  const most: Record<string, number> = { ...lease.spentBy };
  for (const endpoint in spentBy) most[endpoint] = Math.max(most[endpoint] ?? 0, spentBy[endpoint]!);
  const spent = totalOf(most);
  lease.spentBy = most;
  period.used += spent - before;
  if (!lease.open) period.granted += spent - before;
  if (spent > lease.granted) {
    // Only after a restore from a backup: the holder was granted more than this ledger has recorded.
    if (lease.open) period.granted += spent - lease.granted;
    lease.granted = spent;
  }
}

/** Adjusts the grant, and recalls units from other holders if requests are still waiting. */
function adjustGrant(
  period: PeriodState,
  lease: LeaseState,
  request: SyncRequest,
  context: QuotaContext,
): void {
  const granted = Math.max(newGrant(period, lease, request, context), totalOf(lease.spentBy));
  period.granted += granted - lease.granted;
  lease.granted = granted;
  lease.seq = request.seq;
  // A holder may have seen a later barrier, which the ledger lost in a failover. Then it has acknowledged all of these.
  lease.barrierAck = Math.max(lease.barrierAck, Math.min(request.barrierSeen, period.barrier));
  lease.syncedAt = context.now;
  if (request.need > granted && heldByOthers(period, lease) > 0) {
    period.recallAt = context.now;
    period.signalledAt = context.now;
  }
}

function newGrant(
  period: PeriodState,
  lease: LeaseState,
  request: SyncRequest,
  context: QuotaContext,
): number {
  const requested = Math.max(request.want, request.need);
  if (requested <= lease.granted) return requested;
  const pool = poolOf(period, context);
  // Too few units for a request that needs many are left to others that need few.
  if (lease.granted + pool < request.least) return totalOf(lease.spentBy);
  const urgent = request.need - lease.granted;
  const extra = Math.min(requested - lease.granted, blockSize(period, lease, context));
  return lease.granted + Math.min(pool, Math.max(urgent, extra));
}

/**
 * How many units a lease gets beyond those that requests wait for. With n processes, a lease holds up to 1 / 2n of what
 * the pool and the lease have together. So a process gets a new block each time about half of what it could get is
 * spent: the number of syncs grows with the logarithm of the quota, not with the traffic. And half of what is left stays in the
 * pool, so that a process that joins finds units, and a lost host does not lock out its accounts.
 */
function blockSize(period: PeriodState, lease: LeaseState, context: QuotaContext): number {
  if (isRecalled(period, context.now)) return 0;
  const unspent = lease.granted - totalOf(lease.spentBy);
  const share = Math.floor((poolOf(period, context) + unspent) / (2 * Math.max(context.holders, 1)));
  return Math.max(0, Math.min(share, BLOCK_MAX) - unspent);
}

function answerOf(
  period: PeriodState,
  lease: LeaseState,
  applied: boolean,
  context: QuotaContext,
): SyncAnswer {
  return {
    leaseId: lease.leaseId,
    state: lease.open ? 'open' : 'closed',
    seq: lease.seq,
    applied,
    granted: lease.granted,
    spent: totalOf(lease.spentBy),
    used: period.used,
    quota: context.quota,
    pool: poolOf(period, context),
    heldByOthers: heldByOthers(period, lease),
    recall: isRecalled(period, context.now) || period.granted > context.quota,
    barrier: period.barrier,
    now: context.now,
    leaseMs: context.leaseMs,
  };
}

/**
 * An unknown lease of a month with folded leases is one of those: it was recorded before. Its spending is already in
 * `used`.
 */
function folded(period: PeriodState, request: SyncRequest, context: QuotaContext): SyncAnswer {
  const lease = { ...newLease(request, false, period.barrier, context.now), spentBy: request.spentBy };
  return { ...answerOf(period, lease, false, context), granted: totalOf(request.spentBy) };
}

function elsewhere(request: SyncRequest, context: QuotaContext): SyncAnswer {
  const { quota, now, leaseMs } = context;
  const nothing = { granted: 0, spent: 0, used: 0, pool: 0, heldByOthers: 0, barrier: 0 };
  return {
    leaseId: request.leaseId,
    state: 'elsewhere',
    seq: 0,
    applied: false,
    recall: false,
    quota,
    now,
    leaseMs,
    ...nothing,
  };
}

function poolOf(period: PeriodState, context: QuotaContext): number {
  return Math.max(0, context.quota - period.granted);
}

function heldByOthers(period: PeriodState, lease: LeaseState): number {
  const mine = lease.open ? lease.granted - totalOf(lease.spentBy) : 0;
  return period.granted - period.used - mine;
}

function isRecalled(period: PeriodState, now: number): boolean {
  return now - period.recallAt < RECALL_MS;
}
