import { expect, test } from 'bun:test';
import { statementsOf } from '../../test/support/database/statements.ts';
import { day, fixedClock, flat, ledgersOf, NOW } from '../../test/support/ledgers.ts';
import { Board } from './board.ts';

const ledgers = ledgersOf('postgres');

test('on PostgreSQL, the latest prices of many symbols are found with few statements', async () => {
  const ledger = await ledgers.new();
  const symbols = await ledger.symbols.list();
  const bars = symbols.flatMap(({ id: symbolId }, i) =>
    Array.from({ length: 3 }, (_, n) => ({ symbolId, day: day('2026-07-10') + n, ...flat(i + n) })),
  );
  await ledger.bars.publish(bars, { source: 'test', recordedAt: NOW });
  const board = await Board.open({ ledger, clock: fixedClock, historyBytesMax: 1e9, simulated: true }, [0]);
  const all = board.catalog.series;
  const statements = await statementsOf(ledger, () => board.ready(all, 'recent', NOW));
  const prices = all.slice(0, symbols.length).map((series) => board.view(0).latest(series)?.price);
  expect(prices).toEqual(symbols.map((_, i) => i + 2));
  expect(all.length).toBeGreaterThan(100);
  expect(statements.reduce((sum, { uses }) => sum + uses, 0)).toBeLessThan(all.length / 2);
});

test('on PostgreSQL, the open days of many symbols are read with few statements', async () => {
  const ledger = await ledgers.new();
  const symbols = await ledger.symbols.list();
  const ticks = symbols.flatMap(({ id: symbolId }, i) =>
    [3_600_000, 60_000].map((age) => {
      const at = NOW - age;
      return { symbolId, id: `${at}`, at, received: at, price: i + at / NOW };
    }),
  );
  await ledger.ticks.append(ticks, 'test');
  const delays = [0, 600_000];
  const board = await Board.open(
    { ledger, clock: fixedClock, historyBytesMax: 1e9, simulated: false },
    delays,
  );
  const all = board.catalog.series;
  const statements = await statementsOf(ledger, () => board.ready(all, 'recent', NOW));
  for (const [i, age] of [60_000, 3_600_000].entries()) {
    const view = board.view(delays[i]!);
    const prices = all.slice(0, symbols.length).map((series) => view.latest(series)?.price);
    expect(prices).toEqual(symbols.map((_, n) => n + (NOW - age) / NOW));
  }
  expect(statements.reduce((sum, { uses }) => sum + uses, 0)).toBeLessThan(all.length / 2);
});

test('on PostgreSQL, histories are read one at a time: what arrives together is decoded in one turn', async () => {
  const ledger = await ledgers.new();
  const symbols = (await ledger.symbols.list()).slice(0, 30);
  const bars = symbols.map(({ id: symbolId }) => ({ symbolId, day: day('2026-07-10'), ...flat(1) }));
  await ledger.bars.publish(bars, { source: 'test', recordedAt: NOW });
  const board = await Board.open({ ledger, clock: fixedClock, historyBytesMax: 1e9, simulated: true }, [0]);
  const read = ledger.bars.history.bind(ledger.bars);
  let [running, most, count] = [0, 0, 0];
  ledger.bars.history = async (...args) => {
    most = Math.max(most, ++running);
    count++;
    const rows = await read(...args);
    running--;
    return rows;
  };
  await board.ready(board.catalog.series.slice(0, 30), 'all', NOW);
  expect([most, count]).toEqual([1, 30]);
});
