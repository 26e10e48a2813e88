import { expect, test } from 'bun:test';
import { statementsOf } from '../../../test/support/database/statements.ts';
import { shownByReference } from '../../../test/support/exact/visible-prices.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { ledgersOf, NOW, newSymbol } from '../../../test/support/ledgers.ts';
import { Seeded } from '../../../test/support/seeded.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { SIMULATED } from '../../ledger/symbols/sources.ts';
import type { NewTick } from '../../ledger/ticks/tick.ts';
import { FIRST_DAY, LAST_DAY } from '../../market/day.ts';
import { Board } from '../board.ts';
import type { SymbolSeries } from './symbol-series.ts';

const MINUTE = 60_000;
const DELAYS = [0, MINUTE, 10 * MINUTE, 60 * MINUTE];
const MANY = 17_000;

onEachEngine('the first latest price of a symbol with many ticks', (engine) => {
  const ledgers = ledgersOf(engine);
  const clock = { time: NOW, now: () => clock.time };

  async function boardWith(ticksOf: (symbolId: number) => NewTick[], source = 'push') {
    clock.time = NOW;
    const ledger = await ledgers.shared();
    const symbol = await newSymbol(ledger);
    await ledger.ticks.append(ticksOf(symbol.id), source);
    const board = await Board.open({ ledger, clock, historyBytesMax: 1e9, simulated: true }, DELAYS);
    return { ledger, board, series: board.catalog.find(symbol.code)! };
  }

  test('takes about as many statements with seven times as many', async () => {
    const count = async (ticks: number) => {
      const { ledger, series } = await boardWith((id) => spread(id, ticks));
      const statements = await statementsOf(ledger, () => series.load('latest', clock));
      return statements.reduce((sum, { uses }) => sum + uses, 0);
    };
    // The rest may have begun to load, but a statement for each thousand ticks has not been run.
    expect(await count(14_000)).toBeLessThan((await count(2_000)) + 10);
  });

  test('takes few statements although a delayed view shows none of them yet', async () => {
    const { ledger, series } = await boardWith((id) =>
      spread(id, MANY).map((one) => ({ ...one, received: NOW - 9 })),
    );
    const statements = await statementsOf(ledger, () => series.load('latest', clock));
    const backwards = statements.filter(({ text }) => text.includes('at DESC'));
    // SQLite runs on the serving thread, so it reads a page at a time.
    expect(backwards.reduce((sum, { uses }) => sum + uses, 0)).toBeLessThanOrEqual(
      engine === 'sqlite' ? MANY / 1_000 + 2 : 4,
    );
  });

  test.each<[string, (id: number) => NewTick[], string]>([
    ['through the day', (id) => spread(id, MANY), 'push'],
    ['in the last minute', (id) => spread(id, MANY).map((one) => ({ ...one, received: NOW - 9 })), 'push'],
    ['at one moment', (id) => spread(id, MANY).map((one) => ({ ...one, at: NOW - MINUTE })), 'push'],
    ['through the day, simulated', (id) => spread(id, MANY), SIMULATED],
  ])(
    'is what the contract says in every view, also while the rest loads: received %s',
    async (_, ticks, source) => {
      const { ledger, board, series } = await boardWith(ticks, source);
      for (const seconds of [0, 0, 1, 59, 600, 3_600]) {
        clock.time = NOW + seconds * 1_000;
        await board.ready([series], 'latest', clock.time);
        await expectLatest(ledger, board, series);
      }
      await board.ready([series], 'all', clock.time);
      const { bars } = await shownByReference(ledger, series.symbol, clock.time);
      expect(board.view(0).bars(series, FIRST_DAY, LAST_DAY)).toEqual(bars);
    },
  );

  test('shows a tick that arrives while the rest loads', async () => {
    const { ledger, board, series } = await boardWith((id) => spread(id, MANY));
    await board.ready([series], 'latest', NOW);
    const tick = { symbolId: series.symbol.id, id: 'zzzzzzzzzzzzzz', at: NOW, received: NOW, price: 777 };
    await ledger.ticks.append([tick], 'push');
    await board.follow(await ledger.head());
    await board.ready([series], 'latest', NOW);
    await expectLatest(ledger, board, series);
    expect(board.view(0).latest(series)!.price).toBe(777);
  });

  async function expectLatest(ledger: Ledger, board: Board, series: SymbolSeries): Promise<void> {
    const shown = DELAYS.map((delay) => board.view(delay).latest(series));
    const expected = DELAYS.map((delay) => shownByReference(ledger, series.symbol, clock.time - delay));
    expect(shown).toEqual((await Promise.all(expected)).map(({ latest }) => latest));
  }
});

/** Ticks of four hours, in any order: many made at the same time, some received late. */
function spread(symbolId: number, count: number): NewTick[] {
  const chance = new Seeded(14);
  return Array.from({ length: count }, (_, i) => {
    const at = NOW - chance.below(4 * 60) * MINUTE - chance.below(3);
    const received = Math.min(at + (chance.next() < 0.2 ? chance.below(90) * MINUTE : 40), NOW);
    return { symbolId, id: Bun.hash(`${i}`).toString(36), at, received, price: 100 + chance.below(400) / 4 };
  });
}
