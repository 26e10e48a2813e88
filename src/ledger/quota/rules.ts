import { utcDay } from '../../market/day.ts';
import {
  LEASE_MS,
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
 * The rules of a quota, without SQL. An account's month has a quota; replicas lease blocks of it and spend them
 * in memory. What is kept, always:
 *
 *     period.granted = Σ granted of open leases + Σ spent of closed leases + folded
 *     period.used    = Σ spent of all leases + folded
 *
 * So `granted ≤ quota` means that no request over the quota can be admitted anywhere.
 */

/**
 * Applies one message to the locked period and its lease, and answers. Changes `period` in place; gives the lease
 * as it must be stored, or undefined when nothing is to be stored.
 */
export function settle(
  period: PeriodState,
  known: LeaseState | undefined,
  request: SyncRequest,
  context: QuotaContext,
): { answer: SyncAnswer; lease: LeaseState | undefined } {
  if (!known && isOpening(request)) {
    if (period.period !== periodOf(context.now))
      return { answer: elsewhere(request, context), lease: undefined };
    // It has spent nothing, so there is nothing that an older barrier could still wait for.
    const opened = newLease(request, true, period.barrier, context.now);
    move(period, opened, request, context);
    return { answer: answerOf(period, opened, true, context), lease: opened };
  }
  if (!known && period.folded > 0) return { answer: folded(period, request, context), lease: undefined };
  const lease = known ? { ...known } : newLease(request, false, period.barrier, context.now);
  if (lease.open && !request.close && request.seq <= lease.seq) {
    return { answer: answerOf(period, lease, false, context), lease: undefined };
  }
  recordSpent(period, lease, request.spentBy);
  if (request.close) {
    closeLease(period, lease);
    lease.settled = true;
  }
  if (lease.open) move(period, lease, request, context);
  return { answer: answerOf(period, lease, true, context), lease };
}

/** Ends a lease at what it has spent. Its `granted` stays as a record of what it was trusted with. */
export function closeLease(period: PeriodState, lease: LeaseState): void {
  if (!lease.open) return;
  period.granted -= lease.granted - totalOf(lease.spentBy);
  lease.open = false;
}

/**
 * The day that a lease's new spends belong to. They lie between two flushes, so the day of the flush is right to
 * one flush interval; a spool that comes back later was spent before the lease ran out, and in its own month.
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
 * A lease can spend nothing before its first answer, so only a first message without spends may open one. Any
 * other message about an unknown lease comes from a spool, or the ledger was restored from an older copy: it is
 * a debt to be recorded, not a lease to be spent from.
 */
function isOpening(request: SyncRequest): boolean {
  return request.seq === 1 && !request.close && totalOf(request.spentBy) === 0;
}

function newLease(request: SyncRequest, open: boolean, barrierAck: number, expiresAt: number): LeaseState {
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
    expiresAt,
  };
}

/** Spent only grows. A closed lease holds no grant, so what it adds late is added to the period's as well. */
function recordSpent(period: PeriodState, lease: LeaseState, spentBy: SpentBy): void {
  const before = totalOf(lease.spentBy);
  const most: Record<string, number> = { ...lease.spentBy };
  for (const endpoint in spentBy) most[endpoint] = Math.max(most[endpoint] ?? 0, spentBy[endpoint]!);
  const spent = totalOf(most);
  lease.spentBy = most;
  period.used += spent - before;
  if (!lease.open) period.granted += spent - before;
  if (spent > lease.granted) {
    // Only after a restore from an older copy: the holder was granted more than this ledger remembers.
    if (lease.open) period.granted += spent - lease.granted;
    lease.granted = spent;
  }
}

/** Grants or takes back, renews, and asks others for units when requests are left waiting. */
function move(period: PeriodState, lease: LeaseState, request: SyncRequest, context: QuotaContext): void {
  const granted = Math.max(newGrant(period, lease, request, context), totalOf(lease.spentBy));
  period.granted += granted - lease.granted;
  lease.granted = granted;
  lease.seq = request.seq;
  // A holder may know a later barrier of a ledger that has lost its last writes since. It has acknowledged all of this one's.
  lease.barrierAck = Math.max(lease.barrierAck, Math.min(request.barrierSeen, period.barrier));
  lease.expiresAt = context.now + LEASE_MS;
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
  const asked = Math.max(request.want, request.need);
  if (asked <= lease.granted) return asked;
  const pool = poolOf(period, context);
  // Units that cannot serve a request which needs many must not be held for it: others may need few.
  if (lease.granted + pool < request.least) return totalOf(lease.spentBy);
  const urgent = request.need - lease.granted;
  const extra = Math.min(asked - lease.granted, blockLimit(period, context, pool));
  return lease.granted + Math.min(pool, Math.max(urgent, extra));
}

/** A block shrinks near the end of the quota, so that the last units are not stranded with one replica. */
function blockLimit(period: PeriodState, context: QuotaContext, pool: number): number {
  if (isRecalled(period, context.now)) return 0;
  const share = Math.floor(pool / (4 * Math.max(context.openLeases, 1)));
  return Math.max(1, Math.min(share, Math.floor(context.quota / 100)));
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
    applied,
    granted: lease.granted,
    spent: totalOf(lease.spentBy),
    used: period.used,
    quota: context.quota,
    pool: poolOf(period, context),
    heldByOthers: heldByOthers(period, lease),
    recall: isRecalled(period, context.now),
    barrier: period.barrier,
    now: context.now,
    leaseMs: Math.max(0, lease.expiresAt - context.now),
  };
}

/**
 * An unknown lease of a month whose leases were folded is one of them: it was opened before, so it was known then. What it
 * says is in `used` already.
 */
function folded(period: PeriodState, request: SyncRequest, context: QuotaContext): SyncAnswer {
  const lease = { ...newLease(request, false, period.barrier, context.now), spentBy: request.spentBy };
  return { ...answerOf(period, lease, false, context), granted: totalOf(request.spentBy) };
}

function elsewhere(request: SyncRequest, context: QuotaContext): SyncAnswer {
  const { quota, now } = context;
  const nothing = { granted: 0, spent: 0, used: 0, pool: 0, heldByOthers: 0, barrier: 0, leaseMs: 0 };
  return {
    leaseId: request.leaseId,
    state: 'elsewhere',
    applied: false,
    recall: false,
    quota,
    now,
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
