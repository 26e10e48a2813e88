import { expect, test } from 'bun:test';
import { shownByReference } from '../../../test/support/exact/visible-prices.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { flat, ledgersOf, NOW, newSymbol, tick } from '../../../test/support/ledgers.ts';
import { Closer } from '../../feeds/close/closer.ts';
import { importName, noteRevision } from '../../ledger/prices/imports.ts';
import { FIRST_DAY, LAST_DAY } from '../../market/day.ts';
import { marketOf, sessionEnd, settlementTime, tradeDate } from '../../market/session.ts';
import { Board } from '../board.ts';
import { PastPrices } from '../past/past-prices.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DELAYS = [0, 10 * MINUTE, HOUR];

onEachEngine('withdrawn ticks', (engine) => {
  const ledgers = ledgersOf(engine);

  test('are not the latest price again when the ticks since the withdrawal make a provisional bar', async () => {
    const ledger = await ledgers.new();
    const { id: symbolId, code, market: name } = await newSymbol(ledger);
    const market = marketOf(name);
    const day = tradeDate(market, NOW);
    const settles = settlementTime(market, day)!;
    const clock = { now: () => settles + 10 };
    const openBoard = () => Board.open({ ledger, clock, historyBytesMax: 1e9, simulated: false }, [0]);
    const latest = async (board: Board, level: 'latest' | 'all') => {
      await board.follow(await ledger.head());
      const series = board.catalog.find(code)!;
      await board.ready([series], level, clock.now());
      return board.view(0).latest(series)?.price;
    };
    const withdraw = (recordedAt: number) =>
      ledger.withdrawals.withdraw([{ symbolId, day }], { by: 'operator', reason: 'wrong', recordedAt });
    const board = await openBoard();
    const closer = new Closer(ledger);

    await ledger.ticks.append([tick(symbolId, 'a', NOW, 70), tick(symbolId, 'b', settles - 1, 99)], 'desk');
    await closer.close(settles);
    expect(await latest(board, 'all')).toBe(99);
    await withdraw(settles + 1);
    await ledger.ticks.append([{ ...tick(symbolId, 'c', NOW + 1, 71), received: settles + 2 }], 'desk');
    expect(await latest(board, 'all')).toBe(71);
    await closer.close(settles + 3);
    expect(await latest(board, 'all')).toBe(71);
    for (const level of ['latest', 'all'] as const) expect(await latest(await openBoard(), level)).toBe(71);

    await withdraw(settles + 4);
    expect(await latest(board, 'all')).toBeUndefined();
    const why = { reason: 'was right', recordedAt: settles + 5 };
    await ledger.corrections.revert([{ symbolId, day }], why); // the first withdrawal stands
    expect(await latest(board, 'all')).toBe(71);
  });

  test('are the latest price again when the withdrawal is taken back during the session', async () => {
    const ledger = await ledgers.new();
    const { id: symbolId, code, market } = await newSymbol(ledger);
    const day = tradeDate(marketOf(market), NOW);
    const clock = { now: () => NOW + 10 };
    const openBoard = () => Board.open({ ledger, clock, historyBytesMax: 1e9, simulated: false }, [0]);
    const latest = async (board: Board, level: 'latest' | 'all' = 'all') => {
      await board.follow(await ledger.head());
      const series = board.catalog.find(code)!;
      await board.ready([series], level, clock.now());
      return board.view(0).latest(series)?.price;
    };
    const board = await openBoard();
    const why = (recordedAt: number) => ({ by: 'operator', reason: 'a mistake', recordedAt }) as const;
    await ledger.bars.publish([{ symbolId, day, ...flat(29) }], { source: 'desk', recordedAt: NOW });
    await ledger.ticks.append([tick(symbolId, 'a', NOW + 1, 31)], 'desk');
    expect(await latest(board)).toBe(31);
    await ledger.withdrawals.withdraw([{ symbolId, day }], why(NOW + 2));
    expect(await latest(board)).toBeUndefined();
    await ledger.corrections.revert([{ symbolId, day }], why(NOW + 3));
    expect(await latest(board)).toBe(31);
    for (const level of ['latest', 'all'] as const) expect(await latest(await openBoard(), level)).toBe(31);
    await ledger.corrections.correct({ symbolId, day, ...flat(30) }, why(NOW + 4));
    expect(await latest(board)).toBe(30);
  });

  test('after the session are shown with the undo of the import that replaced them, in every view', async () => {
    for (const hasLaterDay of [false, true]) {
      const ledger = await ledgers.new();
      const { id: symbolId, code, market: name } = await newSymbol(ledger);
      const market = marketOf(name);
      const day = tradeDate(market, NOW);
      const end = sessionEnd(market, day);
      const clock = { time: end + HOUR + MINUTE, now: () => clock.time };
      const openBoard = () => Board.open({ ledger, clock, historyBytesMax: 1e9, simulated: false }, DELAYS);
      const shown = async (board: Board) => {
        await board.follow(await ledger.head());
        const series = board.catalog.find(code)!;
        await board.ready([series], 'all', clock.time);
        for (const delayMs of DELAYS) {
          const horizon = clock.time - delayMs;
          const expected = await shownByReference(ledger, series.symbol, horizon);
          const view = board.view(delayMs);
          expect(view.latest(series)).toEqual(expected.latest);
          expect(view.bars(series, FIRST_DAY, LAST_DAY)).toMatchObject(expected.bars);
          const moment = { delayMs, horizon, recordedBy: clock.time, simulated: false };
          const past = await PastPrices.open(ledger, [series], moment);
          await past.load([{ series, first: day - 1, last: day + 1 }]);
          expect(past.bars(series, FIRST_DAY, LAST_DAY)).toEqual(expected.bars);
        }
        return DELAYS.map((delayMs) => board.view(delayMs).bars(series, day, day)[0]?.close);
      };
      const own = [day - 1, ...(hasLaterDay ? [day + 1] : [])].map((of) => ({
        symbolId,
        day: of,
        ...flat(60),
      }));
      await ledger.bars.publish(own, { source: 'desk', recordedAt: NOW });
      const run = await ledger.imports.begin('prices.csv', 'file', NOW);
      await ledger.bars.publish([{ symbolId, day, ...flat(90) }], {
        source: 'file',
        recordedAt: NOW,
        after: (tx, revision) => noteRevision(tx, importName(run), revision),
      });
      await ledger.ticks.append([tick(symbolId, 'a', end + 5 * MINUTE, 71)], 'desk');
      const board = await openBoard();
      expect(await shown(board)).toEqual([90, 90, 90]);
      await ledger.imports.undo(run, clock.time, () => {});
      expect(await shown(board)).toEqual([71, 71, undefined]);
      expect(await shown(await openBoard())).toEqual([71, 71, undefined]);
      clock.time += HOUR;
      expect(await shown(board)).toEqual([71, 71, 71]);
    }
  });
});
