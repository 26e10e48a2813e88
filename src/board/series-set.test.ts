import { expect, test } from 'bun:test';
import { day, fixedClock, flat, ledgersOf, NOW } from '../../test/support/ledgers.ts';
import { Seeded } from '../../test/support/seeded.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Board } from './board.ts';
import type { SymbolSeries } from './series/symbol-series.ts';

const ledgers = ledgersOf('sqlite');

test('the load of a symbol asks nothing of the others, however many there are', async () => {
  const { board, all } = await boardWithBars();
  let asked = 0;
  for (const other of all.slice(2)) countReads(other, () => asked++);
  await board.ready(all.slice(0, 1), 'latest', NOW);
  await board.ready(all.slice(0, 1), 'twoYears', NOW);
  await board.ready(all.slice(1, 2), 'all', NOW);
  expect(asked).toBe(0);
});

test('the memory of all histories is known after every load, change, eviction and removal', async () => {
  const { ledger, board, all } = await boardWithBars();
  const expectSum = () => expect(board.bytes).toBe(all.reduce((sum, series) => sum + series.bytes, 0));
  await board.ready(all, 'twoYears', NOW);
  expect(board.bytes).toBeGreaterThan(0);
  expectSum();
  const symbolId = all[0]!.symbol.id;
  const bars = Array.from({ length: 100 }, (_, i) => ({ symbolId, day: day('2025-01-01') + i, ...flat(2) }));
  const before = board.bytes;
  await ledger.bars.publish(bars, { source: 'test', recordedAt: NOW });
  await board.follow(await ledger.head());
  expect(board.bytes).toBeGreaterThan(before);
  expectSum();
  all[0]!.evict();
  all[1]!.reset();
  expectSum();
  await board.ready(all, 'all', NOW);
  const deleted = all.splice(2, 1)[0]!;
  await ledger.symbols.delete(deleted.symbol.id);
  await board.follow(await ledger.head());
  deleted.reset();
  await deleted.load('all', fixedClock); // for a request that began before
  expectSum();
});

test('the histories that stay in memory are those used last', async () => {
  const { board: unlimited, all } = await boardWithBars();
  await unlimited.ready(all.slice(0, 1), 'all', NOW);
  const fitting = 4;
  const limited = await boardWithBars(unlimited.bytes * fitting);
  const some = limited.all.slice(0, 10);
  const chance = new Seeded(3);
  let used: SymbolSeries[] = [];
  for (let i = 0; i < 200; i++) {
    const series = some[chance.below(some.length)]!;
    await limited.board.ready([series], 'all', NOW);
    used = [series, ...used.filter((one) => one !== series)];
    const loaded = used.filter((one) => one.has('all'));
    expect(loaded).toEqual(used.slice(0, fitting));
  }
});

async function boardWithBars(
  historyBytesMax = 1e9,
): Promise<{ ledger: Ledger; board: Board; all: SymbolSeries[] }> {
  const ledger = await ledgers.new();
  const symbols = await ledger.symbols.list();
  const bars = symbols
    .slice(0, 10)
    .flatMap(({ id: symbolId }) =>
      ['2020-01-02', '2026-07-10'].map((date) => ({ symbolId, day: day(date), ...flat(1) })),
    );
  await ledger.bars.publish(bars, { source: 'test', recordedAt: NOW });
  const board = await Board.open({ ledger, clock: fixedClock, historyBytesMax, simulated: true }, [0]);
  return { ledger, board, all: symbols.map(({ code }) => board.catalog.find(code)!) };
}

/** Calls back whenever somebody reads the memory or the next change of a series. */
function countReads(series: SymbolSeries, onRead: () => void): void {
  for (const name of ['nextDue', 'bytes'] as const) {
    const value = series[name];
    const get = () => {
      onRead();
      return value;
    };
    Object.defineProperty(series, name, { get, set: () => {} });
  }
}
