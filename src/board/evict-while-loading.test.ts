import { expect, test } from 'bun:test';
import { onEachEngine } from '../../test/support/ledger.ts';
import { day, fixedClock, flat, ledgersOf, NOW } from '../../test/support/ledgers.ts';
import { SIMULATED } from '../ledger/symbols/sources.ts';
import { FIRST_DAY, LAST_DAY } from '../market/day.ts';
import { Board } from './board.ts';

onEachEngine('a history', (engine) => {
  const ledgers = ledgersOf(engine);

  test('that is evicted while its older days are read is read again', async () => {
    const ledger = await ledgers.new();
    const [gold, silver] = (await ledger.symbols.list()).slice(0, 2);
    const bars = [gold!, silver!].flatMap(({ id: symbolId }) =>
      ['2020-01-02', '2026-07-10'].map((date, i) => ({ symbolId, day: day(date), ...flat(i + 1) })),
    );
    await ledger.bars.publish(bars, { source: SIMULATED, recordedAt: NOW });
    const board = await Board.open({ ledger, clock: fixedClock, historyBytesMax: 1, simulated: true }, [0]);
    const [a, b] = [gold!, silver!].map(({ code }) => board.catalog.find(code)!);
    await board.ready([a!], 'twoYears', NOW);
    expect(a!.loaded).toBe('twoYears');

    const history = ledger.bars.history.bind(ledger.bars);
    const [isReading, mayRead] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    ledger.bars.history = async (id, origin, first, last) => {
      if (id === gold!.id && origin === 'simulated') {
        isReading.resolve();
        await mayRead.promise;
      }
      return history(id, origin, first, last);
    };
    const loading = board.ready([a!], 'all', NOW);
    await isReading.promise;
    await board.ready([b!], 'twoYears', NOW); // evicts the other
    mayRead.resolve();
    await loading;
    ledger.bars.history = history;
    expect(
      board
        .view(0)
        .bars(a!, FIRST_DAY, LAST_DAY)
        .map(({ close }) => close),
    ).toEqual([1, 2]);

    const real = { symbolId: gold!.id, day: day('2026-07-13'), ...flat(9) };
    await ledger.bars.publish([real], { source: 'test', recordedAt: NOW });
    await board.follow(await ledger.head());
    await board.ready([a!], 'all', NOW);
    expect(
      board
        .view(0)
        .bars(a!, FIRST_DAY, LAST_DAY)
        .map(({ close }) => close),
    ).toEqual([9]);
  });
});
