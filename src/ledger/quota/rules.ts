import { utcDay } from '../../market/day.ts';
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

/** What was spent, by endpoint. Always absolute, never a difference, so that saying it twice is harmless. */
export type SpentBy = Readonly<Record<string, number>>;

/** How long a lease may be spent from without word from the ledger. */
export const LEASE_MS = 60_000;

/**
 * How long after its expiry a silent lease keeps its block: longer than the worst restart and the longest outage.
 * Releasing at the expiry let up to 148 of 700 requests over the quota, because a spool came back later.
 */
export const HOLD_MS = 15 * 60_000;

/** A recall older than this is over: who asked has given up after a second. */
export const RECALL_MS = 2_000;

export interface PeriodState {
  accountId: string;
  period: Period;
  granted: number;
  used: number;
  /** What leases spent that were settled long ago, and are no longer kept one by one. */
  folded: number;
  /** Raised by whoever wants the exact total; leases acknowledge it. */
  barrier: number;
  /** When units were last asked back from all holders. */
  recallAt: number;
  /** When the barrier or the recall last changed: replicas look for it. */
  signalledAt: number;
  /** The highest threshold that has been reported. */
  notified: number;
}

export interface LeaseState {
  leaseId: string;
  accountId: string;
  period: Period;
  replica: string;
  granted: number;
  spentBy: SpentBy;
  seq: number;
  barrierAck: number;
  open: boolean;
  /** Whether its holder has said its last word: whatever comes after is that word again. */
  settled: boolean;
  expiresAt: number;
}

/** One call that grants, renews, flushes and gives back. All its numbers are absolute. */
export interface SyncRequest {
  leaseId: string;
  accountId: string;
  period: Period;
  replica: string;
  spentBy: SpentBy;
  /** Grows with each message; a message whose answer was lost is sent again with the same number. */
  seq: number;
  /** What `granted` should become. Lower than now gives units back. */
  want: number;
  /** What `granted` must become for the requests that wait at this moment. */
  need: number;
  /** What it must become at least to serve one of them: a grant of less would be of no use. */
  least: number;
  /** The barrier that the holder had seen before it looked at what it had spent. */
  barrierSeen: number;
  /** The last message: what is unspent goes back, and the lease ends. */
  close: boolean;
}

export interface SyncAnswer {
  leaseId: string;
  /** `elsewhere`: the lease was not opened, because the ledger is in another month. */
  state: 'open' | 'closed' | 'elsewhere';
  /** False when this seq had already been seen and nothing was changed. */
  applied: boolean;
  granted: number;
  spent: number;
  used: number;
  quota: number;
  /** Units that nobody holds. */
  pool: number;
  /** Units that other leases hold and have not reported as spent. */
  heldByOthers: number;
  /** Somebody waits for units: give back what is not needed. */
  recall: boolean;
  barrier: number;
  /** The ledger's time, and how long the lease is good for after it. */
  now: number;
  leaseMs: number;
}

/** What the transaction knows of the rest of the account while its period is locked. */
export interface QuotaContext {
  quota: number;
  openLeases: number;
  now: number;
}

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
