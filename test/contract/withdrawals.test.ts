import { expect, test } from 'bun:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { BarRevision } from '../../src/ledger/prices/bars.ts';
import { FIRST_DAY, LAST_DAY } from '../../src/market/day.ts';
import { statementsOf } from '../support/database/statements.ts';
import { onEachEngine } from '../support/ledger.ts';
import { day, flat, ledgersOf, NOW, newSymbol, symbolOf, tick } from '../support/ledgers.ts';

const MONDAY = day('2026-07-06');
const TUESDAY = MONDAY + 1;

onEachEngine('withdrawals', (engine) => {
  const ledgers = ledgersOf(engine);
  const withSymbol = async () => {
    const ledger = await ledgers.shared();
    const { id: symbolId, code } = await newSymbol(ledger);
    return {
      ledger,
      symbolId,
      code,
      publish: (price: number, source = 'feed', comparedWith: 'current' | 'own' = 'own', on = MONDAY) =>
        ledger.bars.publish([{ symbolId, day: on, ...flat(price) }], {
          source,
          recordedAt: NOW,
          comparedWith,
        }),
      withdraw: (by: 'source' | 'operator', source?: string, on = MONDAY) =>
        ledger.withdrawals.withdraw([{ symbolId, day: on }], {
          by,
          reason: 'gone',
          recordedAt: NOW + 1,
          ...(source && { source }),
        }),
      correct: (price: number) =>
        ledger.corrections.correct(
          { symbolId, day: MONDAY, ...flat(price) },
          { reason: 'typo', recordedAt: NOW + 2 },
        ),
      revert: () =>
        ledger.corrections.revert([{ symbolId, day: MONDAY }], { reason: 'was right', recordedAt: NOW + 3 }),
    };
  };

  test('a withdrawal is a revision of its own, and the earlier ones stay', async () => {
    const { ledger, symbolId, publish, withdraw } = await withSymbol();
    await publish(5);
    const before = (await ledger.head()).prices;
    expect(await withdraw('source')).toMatchObject([{ symbolId, day: MONDAY, close: 5 }]);
    expect(await versions(ledger, symbolId)).toMatchObject([
      { close: 5, withdrawn: false, reason: null },
      { close: 5, withdrawn: 'source', reason: 'gone', recordedAt: NOW + 1 },
    ]);
    expect(await ledger.bars.changes(before, (await ledger.head()).prices)).toEqual([
      { symbolId, firstDay: MONDAY, lastDay: MONDAY },
    ]);
    expect(await withdraw('source')).toEqual([]); // nothing is left to withdraw
  });

  test('a value that its source gives again is a new revision', async () => {
    const { ledger, symbolId, publish, withdraw } = await withSymbol();
    await publish(5);
    await withdraw('source');
    expect(await publish(5)).toEqual({ taken: 1, unchanged: 0, corrected: 0 });
    expect((await versions(ledger, symbolId)).map((one) => one.withdrawn)).toEqual([false, 'source', false]);
  });

  test('a feed that repeats what the operator withdrew does not bring it back; another value or an import does', async () => {
    const { publish, withdraw } = await withSymbol();
    await publish(5);
    await withdraw('operator');
    expect((await publish(5)).unchanged).toBe(1);
    expect((await publish(6)).taken).toBe(1);
    await withdraw('operator');
    expect((await publish(6, 'feed', 'current')).taken).toBe(1);
  });

  test('only bars of the source that is asked for are withdrawn', async () => {
    const { publish, withdraw } = await withSymbol();
    await publish(5, 'feed');
    await publish(6, 'desk');
    expect(await withdraw('source', 'feed')).toEqual([]);
    expect(await withdraw('source', 'desk')).toHaveLength(1);
  });

  test("the operator's changes are taken back one after the other, down to the original", async () => {
    const { ledger, symbolId, publish, withdraw, correct, revert } = await withSymbol();
    const current = async () => {
      const { close, withdrawn } = (await versions(ledger, symbolId)).at(-1)!;
      return withdrawn || close;
    };
    await publish(5);
    const steps: (number | 'withdraw')[] = [6, 7, 6, 'withdraw', 8, 7, 'withdraw', 5, 6];
    const states: unknown[] = [];
    for (const step of steps) {
      states.push(await current());
      if (step === 'withdraw') await withdraw('operator');
      else await correct(step);
    }
    for (const state of states.reverse()) {
      expect(await revert()).toHaveLength(1);
      expect(await current()).toBe(state as number);
    }
    expect(await revert()).toEqual([]);
    expect((await versions(ledger, symbolId)).at(-1)).toMatchObject({ close: 5, reason: 'was right' });
  });

  test('a change after a revert is taken back to what the revert restored', async () => {
    const { ledger, symbolId, publish, withdraw, correct, revert } = await withSymbol();
    const after = async (work: Promise<unknown>) => {
      await work;
      const { close, withdrawn } = (await versions(ledger, symbolId)).at(-1)!;
      return withdrawn || close;
    };
    await publish(5);
    await correct(6);
    await correct(7);
    expect(await after(revert())).toBe(6);
    expect(await after(correct(8))).toBe(8);
    await withdraw('operator');
    expect(await after(revert())).toBe(8);
    expect(await after(revert())).toBe(6);
    expect(await after(revert())).toBe(5);
    await publish(9, 'desk', 'current');
    await correct(6);
    expect(await after(revert())).toBe(9);
    expect(await revert()).toEqual([]);
  });

  test('corrections of a day that had no price are taken back until it has none', async () => {
    const { ledger, symbolId, correct, revert } = await withSymbol();
    await correct(6);
    await correct(7);
    await revert();
    expect((await versions(ledger, symbolId)).at(-1)).toMatchObject({ close: 6, withdrawn: false });
    await revert();
    expect((await versions(ledger, symbolId)).at(-1)).toMatchObject({ withdrawn: 'source' });
    expect(await revert()).toEqual([]);
  });

  test('ten years are reverted by a few statements: the lock of price writes is held meanwhile', async () => {
    const { ledger, symbolId, publish, withdraw } = await withSymbol();
    await publish(5);
    await withdraw('operator');
    const days = Array.from({ length: 3_700 }, (_, i) => ({ symbolId, day: MONDAY - i }));
    let reverted: unknown;
    const statements = await statementsOf(ledger, async () => {
      reverted = await ledger.corrections.revert(days, { reason: 'was right', recordedAt: NOW + 3 });
    });
    expect(reverted).toEqual([{ symbolId, day: MONDAY }]);
    expect(statements.reduce((sum, { uses }) => sum + uses, 0)).toBeLessThan(50);
  });

  test('the first and last day, and the days of a source, leave out what was withdrawn', async () => {
    const { ledger, symbolId, publish, withdraw } = await withSymbol();
    await publish(5, 'first-day');
    await publish(6, 'first-day', 'own', TUESDAY);
    await withdraw('source');
    expect(await ledger.bars.firstDay(symbolId, 'real')).toBe(TUESDAY);
    const rangeAt = async (moment: number) => {
      const by = { ended: moment, running: moment };
      return (await ledger.past.dayRanges([{ symbolId, lastEnded: TUESDAY }], 'real', by)).get(symbolId);
    };
    expect(await rangeAt(NOW)).toEqual({ first: MONDAY, last: TUESDAY });
    expect(await rangeAt(NOW + 1)).toEqual({ first: TUESDAY, last: TUESDAY });
    expect(await ledger.feeds.daysOf('first-day', symbolId)).toEqual([TUESDAY]);
    await withdraw('operator', undefined, TUESDAY);
    expect(await rangeAt(NOW)).toEqual({ first: MONDAY, last: TUESDAY });
    expect(await rangeAt(NOW + 1)).toBeUndefined();
  });

  test('the rows of a history are the revisions of its origin, in their order, withdrawals included', async () => {
    const { ledger, symbolId, publish, withdraw } = await withSymbol();
    await publish(9, 'simulated', 'own', TUESDAY + 1); // a symbol with real prices takes no simulated ones
    await publish(5);
    await publish(5.25);
    await publish(7, 'feed', 'own', TUESDAY);
    await withdraw('operator');
    await withdraw('source', undefined, TUESDAY);
    await publish(8, 'other', 'own', TUESDAY);
    for (const origin of ['real', 'simulated'] as const) {
      const revisions = await ledger.bars.revisions(symbolId, origin, FIRST_DAY, LAST_DAY);
      expect(revisions.length).toBe(origin === 'real' ? 6 : 1);
      const rows = revisions.map(({ day, open, high, low, close, sourceId, withdrawn }) => {
        const by = withdrawn ? { source: 1, operator: 2 }[withdrawn] : 0;
        return [day, open, high, low, close, sourceId, by];
      });
      expect(await ledger.bars.history(symbolId, origin, FIRST_DAY, LAST_DAY)).toEqual(rows as never);
    }
  });

  test('a symbol whose only real price was withdrawn has real prices again when that is taken back', async () => {
    const { ledger, symbolId, code, publish, withdraw, revert } = await withSymbol();
    await publish(5);
    await withdraw('operator');
    expect((await symbolOf(ledger, code)).real).toBe(false);
    await revert();
    expect((await symbolOf(ledger, code)).real).toBe(true);
    expect(await publish(9, 'simulated')).toEqual({ taken: 0, unchanged: 1, corrected: 0 });
    expect((await versions(ledger, symbolId)).at(-1)).toMatchObject({ close: 5, withdrawn: false });
  });

  test('a symbol whose last real price was withdrawn is simulated again, one that has ticks is not', async () => {
    const { ledger, symbolId, code, publish, withdraw } = await withSymbol();
    const isReal = async () => (await symbolOf(ledger, code)).real;
    await publish(5);
    await publish(6, 'feed', 'own', TUESDAY);
    await withdraw('source');
    expect(await isReal()).toBe(true);
    await withdraw('source', undefined, TUESDAY);
    expect(await isReal()).toBe(false);
    await ledger.ticks.append([tick(symbolId, 'a')], 'feed');
    await publish(7);
    await withdraw('source');
    expect(await isReal()).toBe(true);
  });
});

function versions(ledger: Ledger, symbolId: number): Promise<BarRevision[]> {
  return ledger.bars.revisions(symbolId, 'real', FIRST_DAY, LAST_DAY);
}
