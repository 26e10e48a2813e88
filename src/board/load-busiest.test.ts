import { expect, test } from 'bun:test';
import { onEachEngine } from '../../test/support/ledger.ts';
import { fixedClock, ledgersOf, NOW, tick } from '../../test/support/ledgers.ts';
import { Board } from './board.ts';

onEachEngine('a start', (engine) => {
  const ledgers = ledgersOf(engine);

  test('loads the symbols with the most ticks first, and none without ticks', async () => {
    const ledger = await ledgers.new();
    const [slow, busy, quiet] = await ledger.symbols.list();
    const ticks = Array.from({ length: 30 }, (_, i) => tick(busy!.id, `${i}`, NOW - i));
    await ledger.ticks.append([tick(slow!.id, '1'), ...ticks], 'push');
    expect(await ledger.ticks.busiest(9)).toEqual([busy!.id, slow!.id]);
    expect(await ledger.ticks.busiest(1)).toEqual([busy!.id]);

    const board = await Board.open({ ledger, clock: fixedClock, historyBytesMax: 1e9, simulated: true }, [0]);
    await board.loadBusiest(new AbortController().signal);
    const loaded = [slow, busy, quiet].map((symbol) => board.catalog.find(symbol!.code)!.loaded);
    expect(loaded).toEqual(['recent', 'recent', 'nothing']);
    // A request finds them in memory.
    expect(board.prepare([board.catalog.find(busy!.code)!], 'recent', NOW)).toBeUndefined();
  });

  test('that is stopped loads nothing more', async () => {
    const ledger = await ledgers.new();
    const [symbol] = await ledger.symbols.list();
    await ledger.ticks.append([tick(symbol!.id, '1')], 'push');
    const board = await Board.open({ ledger, clock: fixedClock, historyBytesMax: 1e9, simulated: true }, [0]);
    await board.loadBusiest(AbortSignal.abort());
    expect(board.catalog.find(symbol!.code)!.loaded).toBe('nothing');
  });
});
