import { createKey, hashKey } from '../../src/gate/key.ts';
import type { ApiKey } from '../../src/ledger/accounts/keys.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { SyncRequest } from '../../src/ledger/quota/model.ts';
import { type Period, periodOf } from '../../src/ledger/quota/period.ts';
import { TickPruning } from '../../src/ledger/ticks/tick-pruning.ts';
import type { Ohlc } from '../../src/market/bar.ts';
import { type Day, parseDay } from '../../src/market/day.ts';
import { EMPTY_RUN } from '../support/feeds/run-report.ts';

/**
 * What every schema fixture contains: one small operator's ledger, written through the stores of the program that
 * created the fixture. `schemas.test.ts` states what a newer program must read from it.
 */
export async function fillSampleLedger(ledger: Ledger): Promise<void> {
  await writePrices(ledger);
  await writeIntraday(ledger);
  await writeAccounts(ledger);
  await writeQuota(ledger);
  await writeFeeds(ledger);
  await writeQuarantine(ledger);
  await writeReplicas(ledger);
  await writeAudit(ledger);
}

/** When the sample was recorded: Wednesday 2024-05-15, 16:00 UTC. */
export const RECORDED_AT = Date.UTC(2024, 4, 15, 16);

/** When a wrong close was corrected. */
export const CORRECTED_AT = RECORDED_AT + 3_600_000;

export const GOLD: Readonly<Record<string, Ohlc>> = {
  '2024-05-13': { open: 2361.2, high: 2364.5, low: 2332.1, close: 2336.1 },
  '2024-05-14': { open: 2336.3, high: 2360.4, low: 2335.2, close: 2358.15 },
};

/** Minutes of 2024-05-13, the first two of one hour. */
export const MINUTES = [
  { at: Date.UTC(2024, 4, 13, 14, 5), close: 2340.5 },
  { at: Date.UTC(2024, 4, 13, 14, 6), close: 2341 },
  { at: Date.UTC(2024, 4, 13, 15, 0), close: 2336.1 },
];

/** What was published first for 2024-05-14. */
export const GOLD_BEFORE_CORRECTION: Ohlc = { open: 2336.3, high: 2360.4, low: 2335.2, close: 2385.15 };

/** The day on which crude oil settled below zero. */
export const OIL_2020: Ohlc = { open: 17.73, high: 17.85, low: -40.32, close: -37.63 };

export const GOLD_TICK = {
  id: 'tick-1',
  at: RECORDED_AT - 60_000,
  received: RECORDED_AT - 59_000,
  price: 2374.4,
};

export const OWN_SYMBOL = {
  code: 'OLIVE-OIL',
  name: 'Olive Oil',
  category: 'Agriculture',
  currency: { code: 'EUR', name: 'Euro', symbol: '€' },
  unit: { symbol: 't', name: 'Metric Ton' },
  market: 'SPOT',
  decimals: 2,
  status: 'active',
  updateInterval: 'day',
} as const;

export const OWN_FORMULA = {
  code: 'OLIVES-GOLD',
  name: 'Olive oil in gold',
  expression: '{OLIVE-OIL}/{XAU}',
  unit: 'none',
  currency: 'none',
};

export const PLAN = {
  name: 'club',
  quota: 500,
  delaySeconds: 0,
  maxSymbols: 7,
  maxSpanDays: 90,
  burstPerSecond: 12,
  history: true,
};

/** Each key has one property that admission depends on. The texts are derived, so no key is stored in the repository. */
export const KEYS = {
  valid: createKey((length) => new Uint8Array(length).fill(1)),
  revoked: createKey((length) => new Uint8Array(length).fill(2)),
  expired: createKey((length) => new Uint8Array(length).fill(3)),
  elsewhere: createKey((length) => new Uint8Array(length).fill(4)),
  headerOnly: createKey((length) => new Uint8Array(length).fill(5)),
  suspended: createKey((length) => new Uint8Array(length).fill(6)),
};

/** A month that is over: all of its leases are closed. */
export const CLOSED_MONTH: Period = 202404;
export const USED_IN_CLOSED_MONTH = { latest: 120, historical: 7, 'time-series': 3 };

/** The lease that is still open in the month in which the fixture was created. */
export const OPEN_LEASE = { leaseId: 'lease-open', granted: 20, spentBy: { latest: 4 } };

export const FEED_RUN = { ...EMPTY_RUN, taken: 12, corrected: 1, missing: 2 };

async function writePrices(ledger: Ledger): Promise<void> {
  await ledger.symbols.upsert([OWN_SYMBOL], [{ alias: 'OLIVES', code: OWN_SYMBOL.code, kind: 'legacy' }]);
  const [gold, silver, oil, olives] = await idsOf(ledger, ['XAU', 'XAG', 'WTIOIL-FUT', OWN_SYMBOL.code]);
  await ledger.formulas.define(OWN_FORMULA);
  const first = { source: 'exchange', recordedAt: RECORDED_AT };
  const corrected = { source: 'exchange', recordedAt: CORRECTED_AT, reason: 'correction' };
  await ledger.bars.publish([barOf(gold!, '2024-05-13', GOLD['2024-05-13']!)], first);
  await ledger.bars.publish([barOf(gold!, '2024-05-14', GOLD_BEFORE_CORRECTION)], first);
  await ledger.bars.publish([barOf(gold!, '2024-05-14', GOLD['2024-05-14']!)], corrected);
  await ledger.bars.publish([barOf(oil!, '2020-04-20', OIL_2020)], first);
  await ledger.bars.publish([barOf(olives!, '2024-05-14', flat(8_900))], first);
  await ledger.bars.publish([barOf(silver!, '2024-05-14', flat(28.4))], { ...first, source: 'simulated' });
  await ledger.ticks.append([{ symbolId: gold!, ...GOLD_TICK }], 'exchange');
}

/** An old trade date whose ticks were deleted: its minutes are stored. */
async function writeIntraday(ledger: Ledger): Promise<void> {
  const [gold] = await idsOf(ledger, ['XAU']);
  const of = { symbolId: gold!, origin: 'real', day: day('2024-05-13') } as const;
  await ledger.ticks.append(
    MINUTES.map(({ at, close }) => ({ symbolId: gold!, id: `${at}`, at, received: at, price: close })),
    'exchange',
  );
  const pruning = new TickPruning(ledger.engine);
  await pruning.mark([of], RECORDED_AT);
  await pruning.deleteSome();
}

async function writeAccounts(ledger: Ledger): Promise<void> {
  const { accounts, plans, keys } = ledger;
  await plans.set(PLAN);
  await accounts.create({ id: 'acme', name: 'Acme', plan: 'club', status: 'active', createdAt: RECORDED_AT });
  await accounts.create({ id: 'late', name: 'Late', plan: 'free', status: 'active', createdAt: RECORDED_AT });
  await accounts.update('late', { status: 'suspended' });
  await keys.add(keyOf('acme', KEYS.valid));
  await keys.add(keyOf('acme', KEYS.revoked));
  await keys.revoke(idOf(KEYS.revoked), RECORDED_AT + 1_000);
  await keys.add({ ...keyOf('acme', KEYS.expired), expiresAt: RECORDED_AT + 1_000 });
  await keys.add({ ...keyOf('acme', KEYS.elsewhere), allowedIps: ['192.0.2.0/24', '2001:db8::1'] });
  await keys.add({ ...keyOf('acme', KEYS.headerOnly), headerOnly: true });
  await keys.add(keyOf('late', KEYS.suspended));
}

async function writeQuota(ledger: Ledger): Promise<void> {
  const message: SyncRequest = {
    leaseId: 'lease-1',
    accountId: 'acme',
    period: CLOSED_MONTH,
    replica: 'replica-1',
    spentBy: {},
    seq: 1,
    want: 0,
    need: 0,
    least: 0,
    barrierSeen: 0,
    close: true,
  };
  const { latest, ...others } = USED_IN_CLOSED_MONTH;
  await ledger.quota.sync([{ ...message, spentBy: { latest } }]);
  await ledger.quota.sync([{ ...message, leaseId: 'lease-2', spentBy: others }]);

  const period = periodOf(await ledger.engine.now(ledger.engine.read));
  const { leaseId, granted, spentBy } = OPEN_LEASE;
  const open = { ...message, leaseId, period, want: granted, need: granted, close: false };
  await ledger.quota.sync([open]);
  await ledger.quota.sync([{ ...open, seq: 2, spentBy }]);
}

async function writeFeeds(ledger: Ledger): Promise<void> {
  const [olives] = await idsOf(ledger, [OWN_SYMBOL.code]);
  await ledger.feeds.enable('world-bank', RECORDED_AT, RECORDED_AT + 86_400_000);
  await ledger.feeds.enable('ecb', RECORDED_AT, RECORDED_AT + 86_400_000);
  await ledger.feeds.disable('ecb');
  const lease = await ledger.feeds.take({
    feed: 'world-bank',
    holder: 'replica-1',
    leaseMs: 60_000,
    started: RECORDED_AT,
  });
  await ledger.feeds.finish(lease!, {
    ended: RECORDED_AT + 5_000,
    report: FEED_RUN,
    nextRun: RECORDED_AT + 86_400_000,
    lateAt: RECORDED_AT + 2 * 86_400_000,
    isFull: true,
    bodies: [{ urlHash: 'ab12', etag: '"v1"', lastModified: undefined, observations: 12 }],
    coverage: { days: 12, gaps: 1, firstDay: day('2024-05-01'), lastDay: day('2024-05-14') },
  });
  await ledger.bars.publish([barOf(olives!, '2024-05-13', flat(8_800))], {
    source: 'world-bank',
    recordedAt: RECORDED_AT,
  });
}

/** A tick ten times too high waits for confirmation. */
async function writeQuarantine(ledger: Ledger): Promise<void> {
  const [gold] = await idsOf(ledger, ['XAU']);
  const far = {
    ...GOLD_TICK,
    id: 'tick-2',
    at: GOLD_TICK.at + 1_000,
    received: GOLD_TICK.at + 1_000,
    price: 23_744,
  };
  await ledger.quarantine.admit([{ symbolId: gold!, ...far }], 'exchange');
}

async function writeReplicas(ledger: Ledger): Promise<void> {
  await ledger.replicas.beat({
    id: 'replica-1',
    name: 'host-1',
    version: '0.1.0',
    phase: 'ready',
    revision: 5,
  });
}

/** A plan that somebody saved, and what a key was used for. */
async function writeAudit(ledger: Ledger): Promise<void> {
  await ledger.as({ name: 'ada', via: 'cli' }).plans.change(PLAN, { maxSymbols: PLAN.maxSymbols });
  const use = { accountId: 'acme', keyId: idOf(KEYS.valid), day: day('2024-05-14'), endpoint: 'latest' };
  await ledger.keyUses.add([{ ...use, count: 3, lastAt: RECORDED_AT }]);
}

async function idsOf(ledger: Ledger, codes: readonly string[]): Promise<number[]> {
  const symbols = await ledger.symbols.list();
  return codes.map((code) => symbols.find((symbol) => symbol.code === code)!.id);
}

function barOf(symbolId: number, date: string, ohlc: Ohlc) {
  return { symbolId, day: day(date), ...ohlc };
}

function flat(price: number): Ohlc {
  return { open: price, high: price, low: price, close: price };
}

function day(date: string): Day {
  return parseDay(date)!;
}

function keyOf(accountId: string, text: string): ApiKey {
  return {
    id: idOf(text),
    hash: hashKey(text),
    accountId,
    name: '',
    createdAt: RECORDED_AT,
    expiresAt: null,
    revokedAt: null,
    allowedIps: null,
    headerOnly: false,
  };
}

function idOf(key: string): string {
  return `key_${hashKey(key).slice(0, 12)}`;
}
