import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { RowValues } from '../../../src/ledger/engine/rows.ts';
import { insertRows } from '../../../src/ledger/engine/statements.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { periodBefore, periodOf } from '../../../src/ledger/quota/period.ts';
import { DEFAULT_RETENTION } from '../../../src/ledger/retention/rules.ts';
import { MS_PER_DAY } from '../../../src/market/day.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { day, flat, ledgersOf, NOW, newSymbol, unique } from '../../support/ledgers.ts';

const YEAR_MS = 366 * MS_PER_DAY;

onEachEngine('retention', (engine) => {
  const ledgers = ledgersOf(engine);

  test('merges old changes of bars, and keeps what undo and the newest write need', async () => {
    const ledger = await ledgers.new();
    const { id } = await newSymbol(ledger);
    let imported = 0;
    const publish = (date: string, close: number, recordedAt: number, isImport = false) =>
      ledger.bars.publish([{ symbolId: id, day: day(date), ...flat(close) }], {
        source: 'exchange',
        recordedAt,
        after: async (tx, revision) => {
          if (!isImport) return;
          imported = revision;
          await tx`INSERT INTO import_revision (run, revision) VALUES (1, ${revision})`;
        },
      });
    const old = NOW - YEAR_MS;
    for (const [i, date] of ['2024-01-02', '2024-01-03', '2024-01-04', '2024-01-08'].entries()) {
      await publish(date, 1, old + i);
    }
    await publish('2024-01-03', 2, old + 4); // a correction
    await publish('2024-01-05', 1, old + 5, true);
    await publish('2024-06-03', 1, old + 6); // months later
    await publish('2024-06-04', 1, old + 7); // the newest

    expect(await ledger.retention.apply(NOW)).toBe(true);
    const left = await ledger.engine.read`SELECT first_day, last_day, revision, recorded_at FROM bar_change
      ORDER BY first_day, revision`;
    expect(left.map((row) => [row.first_day, row.last_day, Number(row.recorded_at) - old])).toEqual([
      [day('2024-01-02'), day('2024-01-08'), 0],
      [day('2024-01-03'), day('2024-01-03'), 4],
      [day('2024-01-05'), day('2024-01-05'), 5],
      [day('2024-06-03'), day('2024-06-03'), 6],
      [day('2024-06-04'), day('2024-06-04'), 7],
    ]);
    expect(left.map((row) => Number(row.revision))).toContain(imported);
    expect(await ledger.newestWriteAt()).toBe(old + 7);
    const { pricesFrom, prices } = await ledger.head();
    expect(pricesFrom).toBeGreaterThan(0);
    expect(pricesFrom).toBeLessThan(prices);
    expect(await ledger.bars.count()).toBe(8);
  });

  test('of changes keeps every corrected day, and the first and last day at every moment in the past', async () => {
    const ledger = await ledgers.new();
    let at = 19_121 * MS_PER_DAY;
    const step = fc.record({
      days: fc.uniqueArray(fc.nat(120), { minLength: 1, maxLength: 6 }),
      price: fc.integer({ min: 1, max: 3 }),
      withdraws: fc.boolean(),
    });
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const { id } = await newSymbol(ledger);
      const moments: number[] = [];
      for (const { days, price, withdraws } of steps) {
        const touched = days.map((one) => ({ symbolId: id, day: 19_000 + one }));
        moments.push(++at);
        if (withdraws) {
          await ledger.withdrawals.withdraw(touched, { by: 'operator', reason: 'wrong', recordedAt: at });
        } else {
          const bars = touched.map((one) => ({ ...one, ...flat(price) }));
          await ledger.bars.publish(bars, { source: 'exchange', recordedAt: at });
        }
      }
      const found = async () => {
        const range = { first: 19_000, last: 19_120 };
        const revised = await ledger.revisions.revised({ origin: 'real', symbolIds: [id] }, range, 10_000);
        const dayRanges = [];
        for (const moment of moments) {
          const asked = [{ symbolId: id, lastEnded: 20_000 }];
          dayRanges.push(await ledger.past.dayRanges(asked, 'real', { ended: moment, running: moment }));
        }
        return { revised, dayRanges };
      };
      const before = await found();
      await ledger.retention.apply(NOW);
      expect(await found()).toEqual(before);
    });
    await fc.assert(property, { numRuns: 40 });
  });

  test('merges a long log of daily changes, in batches, into a few', async () => {
    const ledger = await ledgers.new();
    const { id } = await newSymbol(ledger);
    const rows = Array.from({ length: 1_700 }, (_, i) => [100 + i, id, 10_000 + i, 10_000 + i, 1]);
    const corrections = Array.from({ length: 300 }, (_, i) => [
      5_000 + i,
      id,
      10_003 + 5 * i,
      10_003 + 5 * i,
      2,
    ]);
    const newest = [9_000, id, 20_000, 20_000, 3];
    await insert(ledger, 'bar_change (revision, symbol_id, first_day, last_day, recorded_at)', [
      ...rows,
      ...corrections,
      newest,
    ]);
    await ledger.retention.apply(NOW);
    expect(await rowsOf(ledger, 'bar_change')).toBeLessThan(20);
    const covering = await ledger.engine.read`SELECT count(*) AS n FROM bar_change
      WHERE first_day <= 10503 AND last_day >= 10503`;
    expect(Number(covering[0]?.n)).toBeGreaterThanOrEqual(2); // a corrected day
  });

  test('keeps the changes of the last 30 days', async () => {
    const ledger = await ledgers.new();
    const { id } = await newSymbol(ledger);
    for (const [i, date] of ['2026-07-10', '2026-07-13', '2026-07-14'].entries()) {
      const publication = { source: 'exchange', recordedAt: NOW - 29 * MS_PER_DAY + i };
      await ledger.bars.publish([{ symbolId: id, day: day(date), ...flat(1) }], publication);
    }
    await ledger.retention.apply(NOW);
    expect(await rowsOf(ledger, 'bar_change')).toBe(3);
    expect((await ledger.head()).pricesFrom).toBe(0);
  });

  test('deletes months of usage that are older than the rule says, of every account, and all counts still add up', async () => {
    const ledger = await ledgers.new();
    const current = periodOf(NOW);
    const months = [0, 1, 24, 25, 26, 40].map((back) => periodBefore(current, back));
    const accounts = Array.from({ length: 45 }, (_, i) => `account-${i}`);
    const of = accounts.flatMap((account) => months.map((month) => [account, month] as const));
    await insert(
      ledger,
      'quota_period (account_id, period, granted, used, barrier, recall_at, signalled_at, notified, folded)',
      of.map(([account, month]) => [account, month, 7, 7, 0, 0, 0, 0, 7]),
    );
    const usage = of.flatMap(([account, month]) => [
      [account, month, 1, 'latest', 3],
      [account, month, 2, 'latest', 4],
    ]);
    await insert(ledger, 'usage_day (account_id, period, day, endpoint, count)', usage);
    const events = of.map(([account, month]) => [account, month, 75, 7, 9, 1]);
    await insert(ledger, 'quota_event (account_id, period, percent, used, quota, at)', events);

    await ledger.retention.apply(NOW, { ...DEFAULT_RETENTION, usageMonths: 25 });
    for (const table of ['quota_period', 'usage_day', 'quota_event']) {
      const rows = await ledger.engine.read.unsafe(
        `SELECT DISTINCT period FROM ${table} ORDER BY period DESC`,
      );
      expect(rows.map((row) => Number(row.period))).toEqual(months.slice(0, 3));
    }
    expect(await rowsOf(ledger, 'quota_period')).toBe(3 * accounts.length);
    expect(await ledger.quota.check()).toEqual([]);
  });

  test('settles the leases of hosts that never came back, months later, so that they are folded', async () => {
    const ledger = await ledgers.new();
    const leases = [0, 1, 3, 4, 12].map((back) => periodBefore(periodOf(NOW), back));
    await insert(
      ledger,
      'quota_period (account_id, period, granted, used, barrier, recall_at, signalled_at, notified)',
      leases.map((month) => ['lost', month, 5, 5, 0, 0, 0, 0]),
    );
    await insert(
      ledger,
      'quota_lease (lease_id, account_id, period, replica, granted, spent, spent_by, seq, barrier_ack, open, settled, expires_at)',
      leases.map((month) => [`lease-${month}`, 'lost', month, 'gone', 5, 5, '{"latest":5}', 1, 0, 0, 0, 0]),
    );
    await insert(
      ledger,
      'usage_day (account_id, period, day, endpoint, count)',
      leases.map((month) => ['lost', month, 1, 'latest', 5]),
    );
    await ledger.retention.apply(NOW);
    while ((await ledger.quota.foldSettled()) > 0);
    const left = await ledger.engine.read`SELECT period FROM quota_lease ORDER BY period DESC`;
    expect(left.map((row) => Number(row.period))).toEqual(leases.slice(0, 3));
    expect(await ledger.quota.check()).toEqual([]);
    expect((await ledger.quota.usage('lost', leases[4]!)).used).toBe(5);
  });

  test('deletes keys long after they were revoked or have expired, and no others', async () => {
    const ledger = await ledgers.new();
    await ledger.accounts.create({ id: 'a', name: 'A', plan: 'pro', status: 'active', createdAt: 0 });
    const longAgo = NOW - 91 * MS_PER_DAY;
    const lately = NOW - 89 * MS_PER_DAY;
    const keys: Record<string, { expiresAt?: number; revokedAt?: number }> = {
      active: {},
      'revoked lately': { revokedAt: lately },
      'expired lately': { expiresAt: lately },
      'revoked long ago': { revokedAt: longAgo },
      'expired long ago': { expiresAt: longAgo },
    };
    for (const [id, { expiresAt = null, revokedAt = null }] of Object.entries(keys)) {
      const rest = {
        hash: `hash of ${id}`,
        accountId: 'a',
        name: '',
        createdAt: 0,
        allowedIps: null,
        headerOnly: false,
      };
      await ledger.keys.add({ id, expiresAt, revokedAt, ...rest });
    }
    await ledger.retention.apply(NOW, { ...DEFAULT_RETENTION, keysDays: 90 });
    const left = (await ledger.keys.of('a')).map(({ id }) => id);
    expect(left.sort()).toEqual(['active', 'expired lately', 'revoked lately']);
  });

  test('deletes imports that are too old to be undone, and their bars stay', async () => {
    const ledger = await ledgers.new();
    const columns = 'number, started, file, source, taken, corrected, unchanged, held, refused';
    await insert(ledger, `import_run (${columns})`, [
      [1, NOW - 400 * MS_PER_DAY, 'old.csv', 'import', 1, 0, 0, 0, 0],
      [2, NOW - 300 * MS_PER_DAY, 'new.csv', 'import', 1, 0, 0, 0, 0],
    ]);
    const revisions = Array.from({ length: 1_200 }, (_, i) => [1, i + 1]);
    await insert(ledger, 'import_revision (run, revision)', [...revisions, [2, 5_000]]);
    await ledger.retention.apply(NOW);
    expect((await ledger.imports.list(10)).map(({ number }) => number)).toEqual([2]);
    expect(await rowsOf(ledger, 'import_revision')).toBe(1);
  });

  test('deletes decisions about bars after 30 days, and no bar that waits or that an operator dropped', async () => {
    const ledger = await ledgers.new();
    const row = (id: number, state: string, decidedAt: number | null, by?: string): RowValues => [
      ...[id, 1, 1, id, 1, 1, 1, 1, 0, 'odd', 'push', state],
      decidedAt,
      by ?? null,
    ];
    await insert(ledger, 'quarantine_bar', [
      row(1, 'held', null),
      row(2, 'dropped', NOW - 31 * MS_PER_DAY, 'a later bar of its source'),
      row(3, 'released', NOW - 29 * MS_PER_DAY, 'operator'),
      row(4, 'released', NOW - 31 * MS_PER_DAY, 'operator'),
      row(5, 'dropped', NOW - 31 * MS_PER_DAY, 'operator'),
    ]);
    await ledger.retention.apply(NOW);
    const left = await ledger.engine.read`SELECT id FROM quarantine_bar ORDER BY id`;
    expect(left.map((one) => Number(one.id))).toEqual([1, 3, 5]);
  });

  test('stops between two batches on request, and continues with the next call', async () => {
    const ledger = await ledgers.new();
    const months = Array.from({ length: 60 }, () => [unique('old'), 202001, 0, 0, 0, 0, 0, 0]);
    const columns = 'account_id, period, granted, used, barrier, recall_at, signalled_at, notified';
    await insert(ledger, `quota_period (${columns})`, months);
    const stopped = await ledger.retention.apply(NOW, DEFAULT_RETENTION, { signal: AbortSignal.abort() });
    expect(stopped).toBe(false);
    const left = await rowsOf(ledger, 'quota_period');
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(60);
    expect(await ledger.retention.apply(NOW)).toBe(true);
    expect(await rowsOf(ledger, 'quota_period')).toBe(0);
  });

  test('comes to an end, and merges the changes of every symbol, however little time each call has', async () => {
    const ledger = await ledgers.new();
    const symbols = await Promise.all(Array.from({ length: 4 }, () => newSymbol(ledger)));
    const publish = (date: string, recordedAt: number) =>
      ledger.bars.publish(
        symbols.map(({ id }) => ({ symbolId: id, day: day(date), ...flat(1) })),
        { source: 'exchange', recordedAt },
      );
    const old = NOW - YEAR_MS;
    await publish('2024-01-02', old);
    await publish('2024-01-03', old); // a neighbour of the change before
    await publish('2024-06-03', old); // alone
    await publish('2026-10-01', NOW);
    const isDone: boolean[] = [];
    while (isDone.length < 20 && !isDone.at(-1)) {
      isDone.push(await ledger.retention.apply(NOW, DEFAULT_RETENTION, { budgetMs: 0 }));
    }
    expect(isDone.at(-1)).toBe(true);
    const left = await ledger.engine.read`SELECT first_day, last_day FROM bar_change
      WHERE last_day < ${day('2024-06-03')}`;
    expect(left.map((row) => [row.first_day, row.last_day])).toEqual(
      symbols.map(() => [day('2024-01-02'), day('2024-01-03')]),
    );
  });
});

async function insert(ledger: Ledger, into: string, rows: readonly RowValues[]): Promise<void> {
  await ledger.engine.write((tx) => insertRows(ledger.engine, tx, into, rows));
}

async function rowsOf(ledger: Ledger, table: string): Promise<number> {
  const [row] = await ledger.engine.read.unsafe(`SELECT count(*) AS n FROM ${table}`);
  return Number(row?.n);
}
