import { expect, test } from 'bun:test';
import { Closer } from '../../src/feeds/close/closer.ts';
import { Pruner } from '../../src/feeds/close/pruner.ts';
import { LATE_TICKS, PROVISIONAL, SESSION_CLOSE } from '../../src/ledger/prices/bars.ts';
import { importName, noteRevision } from '../../src/ledger/prices/imports.ts';
import { TICKS_KEPT_MS } from '../../src/ledger/ticks/tick-pruning.ts';
import { marketOf, sessionEnd, settlementTime, tradeDate } from '../../src/market/session.ts';
import { onEachEngine } from '../support/ledger.ts';
import { flat, ledgersOf, NOW, newSymbol, tick } from '../support/ledgers.ts';

const HOUR = 3_600_000;

onEachEngine('the ticks of a day whose import or correction is undone', (engine) => {
  const ledgers = ledgersOf(engine);
  const open = async () => {
    const ledger = await ledgers.shared();
    const { id: symbolId, market: code } = await newSymbol(ledger);
    const market = marketOf(code);
    const day = tradeDate(market, NOW);
    const [settles, end] = [settlementTime(market, day)!, sessionEnd(market, day)];
    let pushed = 0;
    const push = (...made: (readonly [at: number, price: number])[]) =>
      ledger.ticks.append(
        made.map(([at, price]) => tick(symbolId, `t${pushed++}`, at, price)),
        'desk',
      );
    /** Ticks that were received some time after they were made. */
    const pushLate = (...made: (readonly [at: number, price: number, received: number])[]) =>
      ledger.ticks.append(
        made.map(([at, price, received]) => ({ ...tick(symbolId, `t${pushed++}`, at, price), received })),
        'desk',
      );
    const closer = new Closer(ledger);
    const days = [{ symbolId, day }];
    const closeAt = (at: number) => closer.close(at);
    const withdraw = (recordedAt: number) =>
      ledger.withdrawals.withdraw(days, { by: 'operator', reason: 'wrong', recordedAt });
    const revert = (recordedAt: number) =>
      ledger.corrections.revert(days, { reason: 'was right', recordedAt });
    const publish = (price: number, publication: { source: string; reason?: string; run?: number }) => {
      const { run, ...rest } = publication;
      const after = (tx: Parameters<typeof noteRevision>[0], revision: number) =>
        noteRevision(tx, importName(run!), revision);
      return ledger.bars.publish([{ symbolId, day, ...flat(price) }], {
        ...rest,
        recordedAt: NOW,
        ...(run !== undefined && { after }),
      });
    };
    const imported = async (price: number) => {
      const run = await ledger.imports.begin('prices.csv', 'file', NOW);
      await publish(price, { source: 'file', run });
      return (at: number) => ledger.imports.undo(run, at, () => {});
    };
    const current = async () => {
      const { open, high, low, close, reason, withdrawn } = (
        await ledger.bars.revisions(symbolId, 'real', day, day)
      ).at(-1)!;
      return withdrawn || [open, high, low, close, reason];
    };
    return {
      ...{ ledger, symbolId, day, settles, end, push, pushLate, publish },
      ...{ imported, closeAt, withdraw, revert, current },
    };
  };

  test('a day with only ticks gets the bar of its session once that has ended', async () => {
    const { end, push, imported, current } = await open();
    await push([NOW, 70], [NOW + 1, 74], [end - 1, 72]);
    const undo = await imported(90);
    await undo(end + HOUR);
    expect(await current()).toEqual([70, 74, 70, 72, SESSION_CLOSE]);
  });

  test('a provisional bar is replaced by that of the session if it has ended meanwhile', async () => {
    const { settles, end, push, publish, imported, current } = await open();
    await push([NOW, 70]);
    await publish(70, { source: 'desk', reason: PROVISIONAL });
    const undo = await imported(90);
    await push([settles + 1, 75], [end - 1, 71]);
    await undo(end + HOUR);
    expect(await current()).toEqual([70, 75, 70, 71, SESSION_CLOSE]);
  });

  test('before the end of the session the bar has the ticks up to the settlement', async () => {
    const { settles, push, publish, imported, current } = await open();
    await push([NOW, 70]);
    await publish(70, { source: 'desk', reason: PROVISIONAL });
    const undo = await imported(90);
    await push([settles, 68], [settles + 1, 75]);
    await undo(settles + 2);
    expect(await current()).toEqual([70, 70, 68, 68, PROVISIONAL]);
  });

  test('a day that has only ticks since its settlement keeps them', async () => {
    for (const change of ['import', 'correction', 'withdrawal'] as const) {
      const { settles, end, push, publish, imported, closeAt, withdraw, revert, current } = await open();
      if (change === 'withdrawal') {
        await push([NOW, 60]);
        await closeAt(settles);
        await withdraw(settles + 1);
      }
      const undo = change === 'import' ? await imported(90) : revert;
      if (change !== 'import') await publish(90, { source: 'operator' });
      await push([settles + 2, 70]);
      await undo(settles + 3);
      expect(await current(), change).toEqual([70, 70, 70, 70, PROVISIONAL]);
      await push([settles + 4, 71]);
      await closeAt(end);
      expect(await current(), change).toEqual([70, 71, 70, 71, SESSION_CLOSE]);
    }
  });

  test('a day that has only ticks after its session gets their bar once every plan sees them', async () => {
    for (const change of ['import', 'correction', 'withdrawal'] as const) {
      const { end, push, publish, imported, closeAt, withdraw, revert, current } = await open();
      if (change === 'withdrawal') {
        await push([NOW, 60]);
        await closeAt(end);
        await withdraw(end + 1);
      }
      const undo = change === 'import' ? await imported(90) : revert;
      if (change !== 'import') await publish(90, { source: 'operator' });
      await push([end + 2, 70]);
      await closeAt(end + 3);
      await undo(end + 4);
      expect(await current(), change).toBe(change === 'withdrawal' ? 'operator' : 'source');
      await closeAt(end + 24 * HOUR);
      expect(await current(), change).toEqual([70, 70, 70, 70, SESSION_CLOSE]);
    }
  });

  test('a day whose ticks were deleted gets their bar, however many of them were in an earlier one', async () => {
    for (const earlier of ['no bar', 'a provisional bar', 'a final bar'] as const) {
      for (const change of ['import', 'correction'] as const) {
        const { ledger, settles, end, push, publish, imported, closeAt, revert, current } = await open();
        await push([NOW, 70], [NOW + HOUR, 74]);
        if (earlier !== 'no bar') await closeAt(earlier === 'a final bar' ? end : settles);
        const undo = change === 'import' ? await imported(90) : revert;
        if (change !== 'import') await publish(90, { source: 'operator' });
        await push([end - 1, 72]);
        const prunedAt = end + TICKS_KEPT_MS + 24 * HOUR;
        await closeAt(prunedAt);
        await new Pruner(ledger).prune(prunedAt);
        await undo(prunedAt + 1);
        const reason = earlier === 'a final bar' ? LATE_TICKS : SESSION_CLOSE;
        expect(await current(), `${earlier}, ${change}`).toEqual([70, 74, 70, 72, reason]);
      }
    }
  });

  test('withdrawn prices are not taken from the stored hours of a day', async () => {
    const { ledger, end, push, imported, closeAt, withdraw, current } = await open();
    await push([NOW, 70]);
    await closeAt(end);
    const prunedAt = end + TICKS_KEPT_MS + 24 * HOUR;
    await closeAt(prunedAt);
    await new Pruner(ledger).prune(prunedAt);
    await withdraw(prunedAt + 1);
    const undo = await imported(90);
    await undo(prunedAt + 2);
    expect(await current()).toBe('operator');
  });

  test('stored hours of a day lack only ticks of which the withdrawal stands', async () => {
    for (const isTakenBack of [false, true]) {
      const { ledger, end, pushLate, push, imported, closeAt, withdraw, revert, current } = await open();
      await push([NOW, 70]);
      const undo = await imported(90);
      await withdraw(end + 1);
      if (isTakenBack) await revert(end + 2);
      await pushLate([NOW + 1, 72, end + 3]);
      const undoOther = isTakenBack ? undo : await imported(91);
      const prunedAt = end + TICKS_KEPT_MS + 24 * HOUR;
      await closeAt(prunedAt);
      await new Pruner(ledger).prune(prunedAt);
      await undoOther(prunedAt + 1);
      expect(await current()).toEqual([isTakenBack ? 70 : 72, 72, isTakenBack ? 70 : 72, 72, SESSION_CLOSE]);
    }
  });

  test('ticks that came late while the import was current are in the bar', async () => {
    const { end, push, publish, imported, current } = await open();
    await push([NOW, 70]);
    await publish(70, { source: 'desk', reason: SESSION_CLOSE });
    const undo = await imported(90);
    await push([end - 1, 71]);
    await undo(end + HOUR);
    expect(await current()).toEqual([70, 71, 70, 71, LATE_TICKS]);
  });

  test('ticks that are stored while the others are folded are in the bar', async () => {
    const { ledger, end, push, imported, current } = await open();
    await push(...Array.from({ length: 2_500 }, (_, i) => [NOW + i, 70 + (i % 7)] as const));
    const undo = await imported(90);
    const { writePrices } = ledger.engine;
    ledger.engine.writePrices = async (work) => {
      ledger.engine.writePrices = writePrices;
      await push([NOW - 1, 60], [end - 1, 72]);
      return ledger.engine.writePrices(work);
    };
    await undo(end + HOUR);
    expect(await current()).toEqual([60, 76, 60, 72, SESSION_CLOSE]);
  });

  test('two changes that are taken back at the same time leave the ticks of the day', async () => {
    for (const change of ['import', 'correction'] as const) {
      const { ledger, end, push, publish, imported, revert, current } = await open();
      await push([NOW, 70], [NOW + 1, 71]);
      const undos: ((at: number) => Promise<unknown>)[] = [];
      for (const price of [90, 91]) {
        if (change === 'import') undos.push(await imported(price));
        else await publish(price, { source: 'operator' });
      }
      const [first = revert, second = revert] = undos;
      const { writePrices } = ledger.engine;
      ledger.engine.writePrices = async (work) => {
        ledger.engine.writePrices = writePrices;
        await first(end + HOUR);
        return ledger.engine.writePrices(work);
      };
      await second(end + HOUR);
      expect(await current(), change).toEqual([70, 71, 70, 71, SESSION_CLOSE]);
    }
  });

  test('ticks that are pushed after the undo make up the day, however early they were made', async () => {
    const { ledger, symbolId, end, push, imported, current } = await open();
    await push([NOW, 70]);
    const undo = await imported(90);
    await undo(end + HOUR);
    await ledger.withdrawals.withdraw([{ symbolId, day: tradeDate(marketOf('COMEX'), NOW) }], {
      by: 'operator',
      reason: 'wrong',
      recordedAt: end + 2 * HOUR,
    });
    const pushed = (id: string, at: number, price: number) => ({
      ...tick(symbolId, id, at, price),
      received: end + 3 * HOUR,
    });
    await ledger.ticks.append([pushed('early', NOW - HOUR, 60), pushed('late', NOW + HOUR, 65)], 'desk');
    await new Closer(ledger).close(end + 4 * HOUR);
    expect(await current()).toEqual([60, 65, 60, 65, SESSION_CLOSE]); // without the withdrawn 70
  });

  test('withdrawn ticks stay out of the bar that an undone import or correction leaves', async () => {
    for (const change of ['import', 'correction'] as const) {
      const { ledger, symbolId, day, settles, end, push, publish, imported, current } = await open();
      await push([NOW, 70]);
      await publish(70, { source: 'desk' });
      const why = { by: 'operator', reason: 'wrong', recordedAt: NOW + 1 } as const;
      await ledger.withdrawals.withdraw([{ symbolId, day }], why);
      await push([settles - 1, 80]);
      await new Closer(ledger).close(settles);
      const bar = { symbolId, day, ...flat(90) };
      const undo = change === 'import' ? await imported(90) : undefined;
      if (!undo) await ledger.corrections.correct(bar, { reason: 'typing error', recordedAt: settles });
      await push([end - 1, 81]);
      if (undo) await undo(end + HOUR);
      else
        await ledger.corrections.revert([{ symbolId, day }], { reason: 'was right', recordedAt: end + HOUR });
      expect(await current(), change).toEqual([80, 81, 80, 81, SESSION_CLOSE]);
    }
  });

  test('withdrawn ticks stay out of the bars of the day, the provisional one, the final one, and that with late ticks', async () => {
    const { ledger, symbolId, day, settles, end, push, publish, current } = await open();
    const closer = new Closer(ledger);
    await push([NOW, 70]);
    await publish(70, { source: 'desk' });
    await ledger.withdrawals.withdraw([{ symbolId, day }], {
      by: 'operator',
      reason: 'wrong',
      recordedAt: NOW + 1,
    });
    await push([settles - 1, 80]);
    await closer.close(settles);
    expect(await current()).toEqual([80, 80, 80, 80, PROVISIONAL]);
    await push([end - 1, 81]);
    await closer.close(end);
    expect(await current()).toEqual([80, 81, 80, 81, SESSION_CLOSE]);
    await ledger.ticks.append([{ ...tick(symbolId, 'late', NOW, 79), received: end + 1 }], 'desk');
    await closer.close(end + 2);
    expect(await current()).toEqual([79, 81, 79, 81, LATE_TICKS]);
  });

  test('a withdrawal that is taken back returns the day to all of its ticks, late ones included', async () => {
    const { ledger, symbolId, day, end, push, current } = await open();
    const closer = new Closer(ledger);
    await push([NOW, 70]);
    await closer.close(end);
    const why = { reason: 'wrong', recordedAt: end + 1 };
    await ledger.withdrawals.withdraw([{ symbolId, day }], { by: 'operator', ...why });
    await ledger.corrections.revert([{ symbolId, day }], { ...why, recordedAt: end + 2 });
    await ledger.ticks.append([{ ...tick(symbolId, 'late', NOW + 1, 71), received: end + 3 }], 'desk');
    await closer.close(end + 4);
    expect(await current()).toEqual([70, 71, 70, 71, LATE_TICKS]);
  });

  test('a withdrawal stands when the bar after it happens to repeat an earlier one', async () => {
    const { settles, end, push, pushLate, closeAt, withdraw, current } = await open();
    await push([NOW, 70]);
    await closeAt(settles);
    await push([NOW + 1, 99]);
    await closeAt(end);
    await withdraw(end + 1);
    await pushLate([NOW + 2, 70, end + 2]);
    await closeAt(end + 3);
    expect(await current()).toEqual([70, 70, 70, 70, SESSION_CLOSE]);
    await pushLate([NOW + 3, 71, end + 4]);
    await closeAt(end + 5);
    expect(await current()).toEqual([70, 71, 70, 71, LATE_TICKS]); // without the withdrawn 99
  });

  test('a withdrawal that is taken back stays so if ticks came in meanwhile', async () => {
    const { end, push, pushLate, closeAt, withdraw, revert, current } = await open();
    await push([NOW, 70]);
    await closeAt(end);
    await withdraw(end + 1);
    await pushLate([NOW + 1, 74, end + 2]);
    await revert(end + 3);
    expect(await current()).toEqual([70, 74, 70, 74, LATE_TICKS]);
    await pushLate([NOW + 2, 72, end + 4]);
    await closeAt(end + 5);
    expect(await current()).toEqual([70, 74, 70, 72, LATE_TICKS]);
  });

  test('when the second of two withdrawals is taken back, the first one stands', async () => {
    for (const tickMeanwhile of [false, true]) {
      const { end, push, pushLate, closeAt, withdraw, revert, current } = await open();
      await push([NOW, 70]);
      await closeAt(end);
      await withdraw(end + 1);
      await pushLate([NOW + 1, 80, end + 2]);
      await closeAt(end + 3);
      await withdraw(end + 4);
      if (tickMeanwhile) await pushLate([NOW + 2, 82, end + 5]);
      await revert(end + 6);
      await pushLate([NOW + 3, 81, end + 7]);
      await closeAt(end + 8);
      expect(await current()).toEqual([80, tickMeanwhile ? 82 : 81, 80, 81, LATE_TICKS]); // without 70
    }
  });

  test('a withdrawal of an import stops hiding ticks when both are undone', async () => {
    const { end, push, pushLate, closeAt, imported, withdraw, revert, current } = await open();
    await push([NOW, 70]);
    const undo = await imported(90);
    await withdraw(end + 1);
    await undo(end + 2);
    expect(await current()).toBe('operator');
    await revert(end + 3);
    expect(await current()).toEqual([70, 70, 70, 70, SESSION_CLOSE]);
    await pushLate([NOW + 1, 72, end + 4]);
    await closeAt(end + 5);
    expect(await current()).toEqual([70, 72, 70, 72, LATE_TICKS]);
  });

  test('a withdrawal of a restored bar is a new one, and is taken back down to the first bar', async () => {
    const { end, push, pushLate, closeAt, withdraw, revert, current } = await open();
    await push([NOW, 70]);
    await closeAt(end);
    for (let at = end; at < end + 30; at += 10) {
      await withdraw(at + 1);
      await revert(at + 2);
      expect(await current()).toEqual([70, 70, 70, 70, SESSION_CLOSE]);
    }
    await withdraw(end + 31);
    await pushLate([NOW + 1, 72, end + 32]);
    await closeAt(end + 33);
    expect(await current()).toEqual([72, 72, 72, 72, SESSION_CLOSE]);
  });

  test('a day that the operator had withdrawn stays withdrawn by the operator', async () => {
    const { ledger, symbolId, day, end, push, publish, imported, current } = await open();
    await push([NOW - 1, 70]);
    await publish(70, { source: 'desk', reason: SESSION_CLOSE });
    await ledger.withdrawals.withdraw([{ symbolId, day }], {
      by: 'operator',
      reason: 'wrong',
      recordedAt: NOW,
    });
    const undo = await imported(90);
    await undo(end + HOUR);
    expect(await current()).toBe('operator');
  });

  test('a correction that is taken back returns the day to its ticks', async () => {
    const { ledger, symbolId, day, settles, end, push, publish, current } = await open();
    const revert = (recordedAt: number) =>
      ledger.corrections.revert([{ symbolId, day }], { reason: 'was right', recordedAt });
    await push([NOW, 70]);
    await publish(90, { source: 'operator' });
    await revert(settles);
    expect(await current()).toEqual([70, 70, 70, 70, PROVISIONAL]);
    await publish(91, { source: 'operator' });
    await push([end - 1, 71]);
    await revert(end + HOUR);
    expect(await current()).toEqual([70, 71, 70, 71, SESSION_CLOSE]);
  });
});
