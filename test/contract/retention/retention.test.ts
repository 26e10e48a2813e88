import { expect, test } from 'bun:test';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { periodBefore, periodOf } from '../../../src/ledger/period.ts';
import { DEFAULT_RETENTION } from '../../../src/ledger/retention/rules.ts';
import { insertRows, type TableRow } from '../../../src/ledger/statements.ts';
import { MS_PER_DAY } from '../../../src/market/day.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { day, flat, ledgersOf, NOW, newSymbol, unique } from '../../support/ledgers.ts';

const YEAR_MS = 366 * MS_PER_DAY;

onEachEngine('retention', (engine) => {
  const ledgers = ledgersOf(engine);

  test('deletes old changes of bars, and keeps what point-in-time searches, undo and the newest write need', async () => {
    const ledger = await ledgers.new();
    const { id } = await newSymbol(ledger);
    const publish = (date: string, recordedAt: number, after?: (revision: number) => void) =>
      ledger.bars.publish([{ symbolId: id, day: day(date), ...flat(1) }], {
        source: 'exchange',
        recordedAt,
        after: async (tx, revision) => {
          after?.(revision);
          if (after) await tx`INSERT INTO import_revision (run, revision) VALUES (1, ${revision})`;
        },
      });
    const old = NOW - YEAR_MS;
    await publish('2024-01-02', old); // nothing before it: bounds searches
    await publish('2024-01-03', old + 1);
    await publish('2024-01-04', old + 2);
    await publish('2023-12-29', old + 3); // an earlier day: bounds searches from then on
    let imported = 0;
    await publish('2024-01-05', old + 4, (revision) => {
      imported = revision;
    });
    await publish('2024-01-08', old + 5);
    await publish('2024-01-09', old + 6); // the newest
    const before = await firstDaysOf(ledger, id, [old, old + 1, old + 2, old + 3, NOW]);

    expect(await ledger.retention.prune(NOW)).toBe(true);
    const left = await ledger.engine.read`SELECT first_day, revision FROM bar_change ORDER BY revision`;
    expect(left.map((row) => Number(row.first_day))).toEqual(
      ['2024-01-02', '2023-12-29', '2024-01-05', '2024-01-09'].map(day),
    );
    expect(left.map((row) => Number(row.revision))).toContain(imported);
    expect(await firstDaysOf(ledger, id, [old, old + 1, old + 2, old + 3, NOW])).toEqual(before);
    expect(await ledger.newestWriteAt()).toBe(old + 6);
    const { pricesFrom, prices } = await ledger.head();
    expect(pricesFrom).toBeGreaterThan(0);
    expect(pricesFrom).toBeLessThan(prices);
    expect(await ledger.bars.count()).toBe(7);
  });

  test('keeps the changes of the last 30 days', async () => {
    const ledger = await ledgers.new();
    const { id } = await newSymbol(ledger);
    for (const [i, date] of ['2026-07-10', '2026-07-13', '2026-07-14'].entries()) {
      const publication = { source: 'exchange', recordedAt: NOW - 29 * MS_PER_DAY + i };
      await ledger.bars.publish([{ symbolId: id, day: day(date), ...flat(1) }], publication);
    }
    await ledger.retention.prune(NOW);
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

    await ledger.retention.prune(NOW, { ...DEFAULT_RETENTION, usageMonths: 25 });
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
    await ledger.retention.prune(NOW);
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
        createdAt: 0,
        allowedIps: null,
        headerOnly: false,
      };
      await ledger.accounts.addKey({ id, expiresAt, revokedAt, ...rest });
    }
    await ledger.retention.prune(NOW, { ...DEFAULT_RETENTION, keysDays: 90 });
    const left = (await ledger.accounts.keys('a')).map(({ id }) => id);
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
    await ledger.retention.prune(NOW);
    expect((await ledger.imports.list(10)).map(({ number }) => number)).toEqual([2]);
    expect(await rowsOf(ledger, 'import_revision')).toBe(1);
  });

  test('deletes decisions about bars after 30 days, and no bar that waits', async () => {
    const ledger = await ledgers.new();
    const row = (id: number, state: string, decidedAt: number | null): TableRow => [
      ...[id, 1, 1, id, 1, 1, 1, 1, 0, 'odd', 'push', state],
      decidedAt,
      null,
    ];
    await insert(ledger, 'quarantine_bar', [
      row(1, 'held', null),
      row(2, 'dropped', NOW - 31 * MS_PER_DAY),
      row(3, 'released', NOW - 29 * MS_PER_DAY),
    ]);
    await ledger.retention.prune(NOW);
    const left = await ledger.engine.read`SELECT id FROM quarantine_bar ORDER BY id`;
    expect(left.map((one) => Number(one.id))).toEqual([1, 3]);
  });

  test('stops between two batches when it is told to, and continues with the next call', async () => {
    const ledger = await ledgers.new();
    const months = Array.from({ length: 60 }, () => [unique('old'), 202001, 0, 0, 0, 0, 0, 0]);
    const columns = 'account_id, period, granted, used, barrier, recall_at, signalled_at, notified';
    await insert(ledger, `quota_period (${columns})`, months);
    const stopped = await ledger.retention.prune(NOW, DEFAULT_RETENTION, { signal: AbortSignal.abort() });
    expect(stopped).toBe(false);
    const left = await rowsOf(ledger, 'quota_period');
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(60);
    expect(await ledger.retention.prune(NOW)).toBe(true);
    expect(await rowsOf(ledger, 'quota_period')).toBe(0);
  });
});

async function firstDaysOf(ledger: Ledger, symbolId: number, moments: readonly number[]): Promise<unknown[]> {
  const rows = [];
  for (const moment of moments) {
    const [row] = await ledger.engine.read`SELECT min(first_day) AS day FROM bar_change
      WHERE symbol_id = ${symbolId} AND recorded_at <= ${moment}`;
    rows.push(row?.day);
  }
  return rows;
}

async function insert(ledger: Ledger, into: string, rows: readonly TableRow[]): Promise<void> {
  await ledger.engine.write((tx) => insertRows(ledger.engine, tx, into, rows));
}

async function rowsOf(ledger: Ledger, table: string): Promise<number> {
  const [row] = await ledger.engine.read.unsafe(`SELECT count(*) AS n FROM ${table}`);
  return Number(row?.n);
}
