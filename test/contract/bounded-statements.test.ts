import { expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { Board } from '../../src/board/board.ts';
import { AuditLog } from '../../src/ledger/audit/audit-log.ts';
import type { Engine } from '../../src/ledger/engine/engine.ts';
import type { Sql } from '../../src/ledger/engine/rows.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { checkQuota } from '../../src/ledger/quota/check.ts';
import { utcDay } from '../../src/market/day.ts';
import { accessTo, type Statement, sqlitePlan, statementsOf } from '../support/database/statements.ts';
import { newFolder } from '../support/ledger.ts';
import { fixedClock, flat, NOW } from '../support/ledgers.ts';
import { newDatabase } from '../support/postgres.ts';

setDefaultTimeout(180_000);

test('on PostgreSQL, a check of the counts reads the usage of all accounts in bounded statements', async () => {
  const ledger = await Ledger.open(await newDatabase(), fixedClock);
  await ledger.engine.write(async (tx) => {
    await tx`INSERT INTO quota_period (account_id, period, granted, used, folded, barrier, recall_at, signalled_at, notified)
      SELECT 'acc_' || i, 202601, 3, CASE WHEN i % 9999 = 0 THEN 4 ELSE 3 END, 3, 0, 0, 0, 0 FROM generate_series(1, 100000) i`;
    await tx`INSERT INTO usage_day (account_id, period, day, endpoint, count)
      SELECT 'acc_' || i, 202601, d, 'latest', 1 FROM generate_series(1, 100000) i, generate_series(1, 3) d`;
  });
  await ledger.engine.write((tx) => tx`ANALYZE quota_period, usage_day`);
  const { engine, statements } = recordStatements(ledger.engine);
  const wrong = await checkQuota(engine);
  expect(
    wrong.filter((line) => line.endsWith('the period records 4 used, its days add up to 3')),
  ).toHaveLength(10);
  const reading = statements.filter(({ text }) => text.includes('FROM usage_day'));
  expect(reading.length).toBeGreaterThan(0);
  for (const statement of reading) {
    expect((await accessTo(ledger, 'usage_day', statement)).rows).toBeLessThan(45_000);
  }
  await ledger.close();
});

test('on PostgreSQL, a search of the audit log that finds little reads it in bounded statements', async () => {
  const ledger = await Ledger.open(await newDatabase(), fixedClock, 'serving');
  await ledger.engine.write(
    (tx) => tx`INSERT INTO audit_entry (id, at, actor, via, action, target, details)
      SELECT lpad(CAST(i AS TEXT), 8, '0'), i, CASE WHEN i % 20001 = 0 THEN 'ada' ELSE 'ben' END, 'api', 'account.create', 'a', '{}'
      FROM generate_series(1, 50000) i`,
  );
  await ledger.engine.write((tx) => tx`ANALYZE audit_entry`);
  const { engine, statements } = recordStatements(ledger.engine);
  const found = await new AuditLog(engine).list({ limit: 10, search: 'ada' });
  expect(found.map(({ at }) => at)).toEqual([40_002, 20_001]);
  expect(statements.length).toBeGreaterThan(1);
  for (const statement of statements) {
    expect((await accessTo(ledger, 'audit_entry', statement)).rows).toBeLessThanOrEqual(10_000);
  }
  await ledger.close();
});

test('on SQLite, periodic work of the serving thread scans no table that has a row for each customer', async () => {
  const ledger = await Ledger.open(join(newFolder(), 'ledger.db'), fixedClock, 'serving');
  const { quota } = ledger;
  const statements = await statementsOf(ledger, async () => {
    await quota.renew('here');
    await quota.signals('here');
    await quota.releaseLost();
    await quota.foldSettled();
    await quota.deleteUnused();
    await quota.claimEvents(() => 1_000);
    await ledger.head();
  });
  expect(statements.length).toBeGreaterThan(5);
  for (const statement of statements) {
    const scans = (await sqlitePlan(ledger, statement)).filter((step) =>
      /^SCAN (account|api_key|key_use|quota_lease|quota_period|usage_day|l)\b/.test(step),
    );
    expect({ text: statement.text, scans }).toEqual({ text: statement.text, scans: [] });
  }
  await ledger.close();
});

test('on SQLite, a first load runs no statement that is prepared again for each value of its LIMIT', async () => {
  const ledger = await Ledger.open(join(newFolder(), 'ledger.db'), fixedClock, 'serving');
  const [symbol] = await ledger.symbols.list();
  await ledger.bars.publish([{ symbolId: symbol!.id, day: 20_000, ...flat(1) }], {
    source: 'a',
    recordedAt: 1,
  });
  await ledger.ticks.append([{ symbolId: symbol!.id, id: 'a', at: NOW, received: NOW, price: 1 }], 'a');
  const board = await Board.open(
    { ledger, clock: fixedClock, historyBytesMax: 1e9, simulated: true },
    [0, 9],
  );
  const series = board.catalog.find(symbol!.code)!;
  const statements = await statementsOf(ledger, async () => {
    await board.ready([series], 'all', NOW);
    await ledger.ticks.last({ symbolId: symbol!.id, origin: 'real', day: utcDay(NOW) }, [NOW - 1, NOW]);
  });
  const bound = statements.filter(({ text }) => /(LIMIT|OFFSET) \?/.test(text));
  expect(bound.map(({ text }) => text)).toEqual([]);
  expect(statements.length).toBeGreaterThan(5);
  await ledger.close();
});

test('on SQLite, held ticks are listed without reading those that were decided', async () => {
  const ledger = await Ledger.open(join(newFolder(), 'ledger.db'), fixedClock, 'serving');
  const [statement] = await statementsOf(ledger, () => ledger.quarantine.list({ all: false, limit: 1_000 }));
  expect((await sqlitePlan(ledger, statement!))[0]).toBe('SCAN q USING INDEX quarantine_tick_held');
  await ledger.close();
});

/** The engine, and every statement that is read with it: pages differ only in their values. */
function recordStatements(original: Engine): { engine: Engine; statements: Statement[] } {
  const statements: Statement[] = [];
  const { read } = original;
  const unsafe = (text: string, values: unknown[] = []) => {
    statements.push({ text, values, uses: 1 });
    return read.unsafe(text, values as never);
  };
  const recording = Object.assign((...args: Parameters<Sql>) => read(...args), { unsafe });
  return { engine: { ...original, read: recording as never }, statements };
}
