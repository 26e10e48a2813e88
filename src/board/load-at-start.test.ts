import { expect, test } from 'bun:test';
import { statementsOf } from '../../test/support/database/statements.ts';
import { onEachEngine } from '../../test/support/ledger.ts';
import { day, fixedClock, flat, ledgersOf, NOW, tick } from '../../test/support/ledgers.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Board } from './board.ts';

const NEVER = new AbortController().signal;

onEachEngine('a start', (engine) => {
  const ledgers = ledgersOf(engine);

  test('loads the symbols with the most ticks first, and none without ticks', async () => {
    const ledger = await ledgers.new();
    const [slow, busy, quiet] = await ledger.symbols.list();
    const ticks = Array.from({ length: 30 }, (_, i) => tick(busy!.id, `${i}`, NOW - i));
    await ledger.ticks.append([tick(slow!.id, '1'), ...ticks], 'push');
    expect(await ledger.ticks.busiest(9)).toEqual([busy!.id, slow!.id]);
    expect(await ledger.ticks.busiest(1)).toEqual([busy!.id]);

    const board = await open(ledger, 1e9);
    await board.loadBusiest(NEVER);
    const loaded = [slow, busy, quiet].map((symbol) => board.catalog.find(symbol!.code)!.loaded);
    expect(loaded).toEqual(['recent', 'recent', 'nothing']);
    // A request finds them in memory.
    expect(board.prepare([board.catalog.find(busy!.code)!], 'recent', NOW)).toBeUndefined();
  });

  test('that is stopped loads nothing more', async () => {
    const ledger = await ledgers.new();
    const [symbol] = await ledger.symbols.list();
    await ledger.ticks.append([tick(symbol!.id, '1')], 'push');
    const board = await open(ledger, 1e9);
    await board.loadBusiest(AbortSignal.abort());
    expect(board.catalog.find(symbol!.code)!.loaded).toBe('nothing');
  });

  test('loads the latest prices of all symbols, then two years of their histories', async () => {
    const { board, series } = await boardWithHistories(1e9);
    await board.loadAhead('latest', NEVER);
    expect(series.map(({ loaded }) => loaded)).toEqual(['recent', 'recent', 'recent']);
    await board.loadAhead('twoYears', NEVER);
    expect(series.map(({ loaded }) => loaded)).toEqual(['twoYears', 'twoYears', 'twoYears']);
    // Requests find them in memory.
    expect(board.prepare(series, 'twoYears', NOW)).toBeUndefined();
  });

  test('finds the first day of a history once, also if bars were added before the rest is read', async () => {
    const { ledger, board, series } = await boardWithHistories(1e9);
    const symbolId = series[0]!.symbol.id;
    const statements = await statementsOf(ledger, async () => {
      await board.loadAhead('latest', NEVER);
      const bars = ['2026-07-08', '2026-07-13'].map((date) => ({ symbolId, day: day(date), ...flat(9) }));
      await ledger.bars.publish(bars, { source: 'test', recordedAt: NOW });
      await board.follow(await ledger.head());
      await board.loadAhead('twoYears', NEVER);
    });
    const finding = statements.filter(({ text }) => text.includes('ORDER BY day ASC LIMIT 1'));
    const symbols = (await ledger.symbols.list()).length;
    const { parallelLoads } = ledger.engine;
    // The simulated ones only of symbols without real prices.
    const expected = [symbols, symbols - series.length].map((count) => Math.ceil(count / parallelLoads));
    expect(finding.map(({ uses }) => uses)).toEqual(expected);
    const columns = series[0]!.histories!.visible(0)!.settled.columns!;
    const bars = Array.from({ length: columns.length }, (_, i) => columns.bar(i));
    expect(bars.map(({ close }) => close)).toEqual([9, 10, 11, 12, 9]);
  });

  test('loads no more histories than fit into memory', async () => {
    const { board, series } = await boardWithHistories(1);
    for (const level of ['latest', 'twoYears'] as const) await board.loadAhead(level, NEVER);
    expect(series.map(({ loaded }) => loaded)).toEqual(['recent', 'recent', 'recent']);
  });

  test('has no more time for prices than it is given', async () => {
    const { board, series } = await boardWithHistories(1e9);
    await board.loadAhead('latest', AbortSignal.abort());
    expect(series.map(({ loaded }) => loaded)).toEqual(['nothing', 'nothing', 'nothing']);
  });

  test('does not wait for all ticks of a symbol that has many', async () => {
    const ledger = await ledgers.new();
    const busy = (await ledger.symbols.list()).at(-1);
    const ticks = Array.from({ length: 9_000 }, (_, i) => tick(busy!.id, `${i}`, NOW - i));
    await ledger.ticks.append(ticks, 'push');
    const board = await open(ledger, 0);
    for (const level of ['latest', 'twoYears'] as const) await board.loadAhead(level, NEVER);
    const series = board.catalog.find(busy!.code)!;
    expect(series.loaded).toBe('latest');
    await board.ready([series], 'recent', NOW);
    expect(series.loaded).toBe('recent');
  });

  async function boardWithHistories(historyBytesMax: number) {
    const ledger = await ledgers.new();
    const symbols = (await ledger.symbols.list()).slice(0, 3);
    await ledger.bars.publish(
      symbols.flatMap(({ id: symbolId }) =>
        [10, 11, 12].map((price) => ({ symbolId, day: day(`2026-07-${price}`), ...flat(price) })),
      ),
      { source: 'test', recordedAt: NOW },
    );
    const board = await open(ledger, historyBytesMax);
    return { ledger, board, series: symbols.map(({ code }) => board.catalog.find(code)!) };
  }

  function open(ledger: Ledger, historyBytesMax: number): Promise<Board> {
    return Board.open({ ledger, clock: fixedClock, historyBytesMax, simulated: true }, [0]);
  }
});
