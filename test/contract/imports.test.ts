import { expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { importFile } from '../../src/feeds/import-file.ts';
import type { UndoneDay } from '../../src/ledger/corrections/undo-import.ts';
import { PROVISIONAL } from '../../src/ledger/prices/bars.ts';
import { importName, noteRevision, requireRunning } from '../../src/ledger/prices/imports.ts';
import { FIRST_DAY, LAST_DAY, MS_PER_DAY, printDay } from '../../src/market/day.ts';
import { marketOf, tradeDate } from '../../src/market/session.ts';
import { newFolder, onEachEngine } from '../support/ledger.ts';
import { day, flat, ledgersOf, NOW, newSymbol, tick } from '../support/ledgers.ts';

const MONDAY = day('2026-07-06');

onEachEngine('imports', (engine) => {
  const ledgers = ledgersOf(engine);
  const open = async (opening = ledgers.shared()) => {
    const ledger = await opening;
    const { id: symbolId } = await newSymbol(ledger);
    const publish = (closes: Record<number, number>, source: string, run?: number) =>
      ledger.bars.publish(
        Object.entries(closes).map(([day, close]) => ({ symbolId, day: Number(day), ...flat(close) })),
        {
          source,
          recordedAt: NOW,
          ...(run !== undefined && {
            before: (tx) => requireRunning(tx, run),
            after: (tx, revision) => noteRevision(tx, importName(run), revision),
          }),
        },
      );
    const undo = async (run: number) => {
      const days: UndoneDay[] = [];
      await ledger.imports.undo(run, NOW + 1, (some) => days.push(...some));
      return days.sort((a, b) => a.day - b.day).map(({ day, what, close }) => [day - MONDAY, what, close]);
    };
    const current = async () => {
      const all = await ledger.bars.revisions(symbolId, 'real', FIRST_DAY, LAST_DAY);
      const last = new Map(all.map((bar) => [bar.day, bar]));
      const names = await ledger.sources.names();
      return [...last.values()]
        .filter((bar) => !bar.withdrawn)
        .map((bar) => [bar.day - MONDAY, bar.close, names.get(bar.sourceId), bar.reason]);
    };
    return { ledger, symbolId, publish, undo, current };
  };

  test('an undo withdraws what the import added and restores what it corrected, as new revisions', async () => {
    const { ledger, symbolId, publish, undo, current } = await open();
    await publish({ [MONDAY]: 1, [MONDAY + 1]: 2 }, 'feed');
    const run = await ledger.imports.begin('prices.csv', 'file', NOW);
    await publish({ [MONDAY + 1]: 20, [MONDAY + 2]: 30 }, 'file', run);
    await ledger.imports.finish(run, NOW, { taken: 1, corrected: 1, unchanged: 0, held: 0, refused: 0 });
    expect(await undo(run)).toEqual([
      [1, 'restored', 20],
      [2, 'withdrawn', 30],
    ]);
    expect(await current()).toEqual([
      [0, 1, 'feed', null],
      [1, 2, 'feed', `import ${run} undone`],
    ]);
    const tuesday = await ledger.bars.revisions(symbolId, 'real', MONDAY + 1, MONDAY + 1);
    expect(tuesday.map((bar) => bar.close)).toEqual([2, 20, 2]);
    expect(await ledger.imports.find(run)).toMatchObject({ file: 'prices.csv', taken: 1, undone: NOW + 1 });
  });

  test('an undo returns a day to its ticks, if they have no bar yet, or to the bar made of them', async () => {
    const { ledger, symbolId, publish, undo, current } = await open();
    const { market } = (await ledger.symbols.list()).find(({ id }) => id === symbolId)!;
    const today = tradeDate(marketOf(market), NOW);
    const ticks = [70, 74, 72].map((price, i) => tick(symbolId, `t${i}`, NOW - 3_000 + i, price));
    await ledger.ticks.append(ticks, 'desk');
    const run = await ledger.imports.begin('prices.csv', 'file', NOW);
    await publish({ [today]: 90 }, 'file', run);
    expect(await undo(run)).toEqual([[today - MONDAY, 'restored', 90]]);
    expect(await current()).toEqual([[today - MONDAY, 72, 'desk', PROVISIONAL]]);
    const [bar] = (await ledger.bars.revisions(symbolId, 'real', today, today)).slice(-1);
    expect(bar).toMatchObject({ open: 70, high: 74, low: 70, close: 72, recordedAt: NOW + 1 });
    const again = await ledger.imports.begin('prices.csv', 'file', NOW);
    await publish({ [today]: 91 }, 'file', again);
    expect(await undo(again)).toEqual([[today - MONDAY, 'restored', 91]]);
    expect(await current()).toEqual([[today - MONDAY, 72, 'desk', PROVISIONAL]]); // so the session's bar replaces it
  });

  test('a day that somebody changed since stays, and an undo that was cut short can be repeated', async () => {
    const { ledger, publish, undo, current } = await open();
    const run = await ledger.imports.begin('prices.csv', 'file', NOW);
    await publish({ [MONDAY]: 10 }, 'file', run);
    await publish({ [MONDAY + 1]: 20 }, 'file', run);
    await publish({ [MONDAY + 1]: 21 }, 'desk');
    const expected = [[1, 21, 'desk', null]];
    expect(await undo(run)).toEqual([
      [0, 'withdrawn', 10],
      [1, 'kept', 20],
    ]);
    expect(await current()).toEqual(expected);
    await undo(run);
    expect(await current()).toEqual(expected);
  });

  for (const order of ['first', 'second'] as const) {
    test(`two imports of the same days leave what was published before, with the ${order} undone first`, async () => {
      const { ledger, publish, undo, current } = await open();
      await publish({ [MONDAY]: 1 }, 'feed');
      const before = await current();
      const [first, second] = [
        await ledger.imports.begin('a.csv', 'file', NOW),
        await ledger.imports.begin('b.csv', 'file', NOW),
      ];
      await publish({ [MONDAY]: 10, [MONDAY + 1]: 20, [MONDAY + 2]: 30 }, 'file', first);
      await publish({ [MONDAY]: 11, [MONDAY + 1]: 21 }, 'file', second);
      if (order === 'first') {
        expect((await undo(first)).map(([, what]) => what)).toEqual(['kept', 'kept', 'withdrawn']);
        expect((await current()).map(([, close]) => close)).toEqual([11, 21]);
        await undo(second);
      } else {
        await undo(second);
        expect((await current()).map(([, close]) => close)).toEqual([10, 20, 30]);
        expect((await undo(first)).map(([, what]) => what)).toEqual(['restored', 'withdrawn', 'withdrawn']);
      }
      expect((await current()).map((bar) => bar.slice(0, 3))).toEqual(before.map((bar) => bar.slice(0, 3)));
    });
  }

  test('three imports of a day can be undone in any order', async () => {
    for (const order of [
      [2, 1, 0],
      [1, 2, 0],
      [1, 0, 2],
      [0, 1, 2],
    ]) {
      const { ledger, publish, undo, current } = await open();
      await publish({ [MONDAY]: 1 }, 'feed');
      const runs: number[] = [];
      for (const close of [10, 1, 12]) {
        const run = await ledger.imports.begin(`${close}.csv`, 'file', NOW);
        await publish({ [MONDAY]: close }, 'file', run);
        runs.push(run);
      }
      for (const one of order) await undo(runs[one]!);
      expect((await current()).map((bar) => bar.slice(0, 3))).toEqual([[0, 1, 'feed']]);
    }
  });

  test('a correction over an undone import is taken back to what was published before the import', async () => {
    const { ledger, symbolId, publish, undo, current } = await open();
    await publish({ [MONDAY]: 1 }, 'feed');
    const run = await ledger.imports.begin('prices.csv', 'file', NOW);
    await publish({ [MONDAY]: 10, [MONDAY + 1]: 20 }, 'file', run);
    for (const day of [MONDAY, MONDAY + 1])
      await ledger.corrections.correct(
        { symbolId, day, ...flat(5) },
        { reason: 'typing error', recordedAt: NOW },
      );
    expect((await undo(run)).map(([, what]) => what)).toEqual(['kept', 'kept']);
    const days = [MONDAY, MONDAY + 1].map((day) => ({ symbolId, day }));
    expect(await ledger.corrections.revert(days, { reason: 'was right', recordedAt: NOW + 2 })).toEqual(days);
    expect(await current()).toEqual([[0, 1, 'feed', 'was right']]);
    expect(await ledger.corrections.revert(days, { reason: 'again', recordedAt: NOW + 3 })).toEqual([]);
  });

  test('what an undone import wrote is not restored after the time for which imports can be undone, either', async () => {
    const { ledger, symbolId, publish, undo, current } = await open(ledgers.new());
    await publish({ [MONDAY]: 1 }, 'feed');
    const run = await ledger.imports.begin('prices.csv', 'file', NOW);
    await publish({ [MONDAY]: 100 }, 'file', run);
    await ledger.corrections.correct(
      { symbolId, day: MONDAY, ...flat(2) },
      { reason: 'typo', recordedAt: NOW },
    );
    expect(await undo(run)).toEqual([[0, 'kept', 100]]);
    await ledger.retention.apply(NOW + 400 * MS_PER_DAY);
    await ledger.corrections.revert([{ symbolId, day: MONDAY }], {
      reason: 'was right',
      recordedAt: NOW + 2,
    });
    expect(await current()).toEqual([[0, 1, 'feed', 'was right']]);
  });

  test('an import that is undone while a later one is undone leaves nothing of either', async () => {
    const { ledger, publish, undo, current } = await open();
    await publish({ [MONDAY]: 1 }, 'feed');
    const first = await ledger.imports.begin('a.csv', 'file', NOW);
    await publish({ [MONDAY]: 10 }, 'file', first);
    const second = await ledger.imports.begin('b.csv', 'file', NOW);
    await publish({ [MONDAY]: 20 }, 'file', second);
    const { engine } = ledger;
    const { write } = engine;
    engine.write = async (work) => {
      engine.write = write;
      await undo(second); // right before the first one counts as undone
      return engine.write(work);
    };
    await undo(first);
    expect((await current()).map((bar) => bar.slice(0, 3))).toEqual([[0, 1, 'feed']]);
  });

  test('undos and reverts in any order leave the newest change that is not taken back', async () => {
    const step = fc.oneof(
      fc.constant({ kind: 'import' as const }),
      fc.constant({ kind: 'correct' as const }),
      fc.constant({ kind: 'withdraw' as const }),
      fc.constant({ kind: 'revert' as const }),
      fc.record({ kind: fc.constant('undo' as const), of: fc.nat() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const { ledger, symbolId, publish, undo, current } = await open();
        const days = [{ symbolId, day: MONDAY }];
        const why = { reason: 'test', recordedAt: NOW };
        await publish({ [MONDAY]: 1 }, 'feed');
        let changes: { run?: number; close: number | undefined }[] = [{ run: 0, close: 1 }];
        for (const [i, one] of steps.entries()) {
          const close = 10 + i;
          const top = changes.at(-1)!;
          if (one.kind === 'import') {
            const run = await ledger.imports.begin('prices.csv', 'file', NOW);
            await publish({ [MONDAY]: close }, 'file', run);
            changes.push({ run, close });
          } else if (one.kind === 'correct') {
            await ledger.corrections.correct({ symbolId, day: MONDAY, ...flat(close) }, why);
            changes.push({ close });
          } else if (one.kind === 'withdraw') {
            await ledger.withdrawals.withdraw(days, { ...why, by: 'operator' });
            if (top.close !== undefined) changes.push({ close: undefined });
          } else if (one.kind === 'revert') {
            const reverted = await ledger.corrections.revert(days, why);
            expect(reverted).toHaveLength(top.run === undefined ? 1 : 0);
            if (top.run === undefined) changes.pop();
          } else {
            const runs = changes.flatMap(({ run }) => run || []);
            const run = runs[one.of % runs.length];
            if (run === undefined) continue;
            await undo(run);
            changes = changes.filter((change) => change.run !== run);
          }
          const expected = changes.at(-1)!.close;
          expect((await current()).map(([, published]) => published)).toEqual(
            expected === undefined ? [] : [expected],
          );
        }
      }),
      { numRuns: 25 },
    );
  });

  test('the undo of a running import stops it: nothing that it wrote or held stays', async () => {
    const { ledger, symbolId, publish, undo, current } = await open();
    const run = await ledger.imports.begin('prices.csv', 'file', NOW);
    const held = [{ bar: { symbolId, day: MONDAY + 5, ...flat(99) }, reason: 'far away' }];
    const hold = () =>
      ledger.heldBars.hold(held, {
        source: 'file',
        origin: importName(run),
        received: NOW,
        before: (tx) => requireRunning(tx, run),
      });
    await publish({ [MONDAY]: 10 }, 'file', run);
    await hold();
    const [undone, next] = await Promise.allSettled([undo(run), publish({ [MONDAY + 1]: 11 }, 'file', run)]);
    expect(undone.status).toBe('fulfilled');
    if (next.status === 'rejected') expect(String(next.reason)).toContain(`import ${run} was undone`);
    await expect(publish({ [MONDAY + 2]: 12 }, 'file', run)).rejects.toThrow(
      'was undone while it was running',
    );
    await expect(hold()).rejects.toThrow('was undone');
    const counts = { taken: 3, corrected: 0, unchanged: 0, held: 0, refused: 0 };
    await expect(ledger.imports.finish(run, NOW, counts)).rejects.toThrow('was undone');
    expect(await current()).toEqual([]);
    expect(await ledger.heldBars.list({ all: true, limit: 10 })).not.toContainEqual(
      expect.objectContaining({ origin: importName(run) }),
    );
    expect(await ledger.imports.find(run)).toMatchObject({ taken: 0, undone: NOW + 1 });
  });

  test('a file that is being imported stops when its import is undone', async () => {
    const { ledger, symbolId, current } = await open();
    const other = await newSymbol(ledger);
    const code = (await ledger.symbols.list()).find(({ id }) => id === symbolId)!.code;
    const days = Array.from({ length: 20_000 }, (_, i) => `${code},${printDay(FIRST_DAY + i)},10`);
    const path = join(newFolder(), 'prices.csv');
    await Bun.write(path, `code,date,close\n${days.join('\n')}\n${other.code},2026-07-06,10\n`);
    let undoing: Promise<unknown> | undefined;
    const importing = importFile(ledger, {
      path,
      name: 'prices.csv',
      code: undefined,
      source: 'file',
      rules: { columns: { symbol: 'code' } },
      recordedAt: NOW,
      accept: false,
      dryRun: false,
      onPublished() {
        undoing ??= ledger.imports
          .list(1)
          .then(([run]) => ledger.imports.undo(run!.number, NOW + 1, () => {}));
      },
    });
    const [{ status }] = await Promise.allSettled([importing]);
    await undoing;
    if (engine === 'sqlite') expect(status).toBe('rejected'); // on PostgreSQL, either may be first
    expect(await current()).toEqual([]);
    const ofOther = await ledger.bars.revisions(other.id, 'real', FIRST_DAY, LAST_DAY);
    expect(ofOther.at(-1)?.withdrawn ?? true).toBeTruthy();
  });

  test('an undo reports its progress after each transaction', async () => {
    const { ledger, publish } = await open();
    const run = await ledger.imports.begin('prices.csv', 'file', NOW);
    for (const close of [1, 2, 3, 4]) await publish({ [MONDAY + close]: close }, 'file', run);
    const seen: [days: number, share: number][] = [];
    await ledger.imports.undo(run, NOW + 1, (days, share) => seen.push([days.length, share]));
    expect(seen).toEqual([
      [1, 0.25],
      [1, 0.5],
      [1, 0.75],
      [1, 1],
    ]);
  });

  test('what was released from quarantine belongs to its import', async () => {
    const { ledger, symbolId, undo, current } = await open();
    const run = await ledger.imports.begin('prices.csv', 'file', NOW);
    const held = { bar: { symbolId, day: MONDAY, ...flat(99) }, reason: 'far away' };
    const dropped = { bar: { symbolId, day: MONDAY + 1, ...flat(98) }, reason: 'far away' };
    await ledger.heldBars.hold([held, dropped], { source: 'file', origin: importName(run), received: NOW });
    const [second, first] = (await ledger.heldBars.list({ all: false, limit: 2 })).map(({ id }) => id);
    expect(await ledger.quarantine.release(first!, NOW, 'operator')).toBe(true);
    expect(await current()).toEqual([[0, 99, 'file', 'released from quarantine by operator']]);
    expect(await undo(run)).toEqual([[0, 'withdrawn', 99]]);
    expect(await ledger.quarantine.drop(second!, NOW, 'operator')).toBe(false);
    expect(await current()).toEqual([]);
  });

  test('what is released after the undo of its import is the price that a later undo restores', async () => {
    const { ledger, symbolId, publish, undo, current } = await open();
    const first = await ledger.imports.begin('prices.csv', 'file', NOW);
    const held = [{ bar: { symbolId, day: MONDAY, ...flat(99) }, reason: 'far away' }];
    await ledger.heldBars.hold(held, { source: 'file', origin: importName(first), received: NOW });
    const { id } = (await ledger.heldBars.list({ all: false, limit: 1 }))[0]!;
    await ledger.quarantine.drop(id, NOW, 'operator');
    await undo(first);
    await ledger.quarantine.release(id, NOW, 'operator');
    const second = await ledger.imports.begin('corrected.csv', 'file', NOW);
    await publish({ [MONDAY]: 50 }, 'file', second);
    expect(await undo(second)).toEqual([[0, 'restored', 50]]);
    expect((await current()).map((bar) => bar.slice(0, 3))).toEqual([[0, 99, 'file']]);
  });

  test('what an undo took out of quarantine is held again when the file is imported again', async () => {
    const { ledger, symbolId, undo } = await open();
    const held = [{ bar: { symbolId, day: MONDAY, ...flat(99) }, reason: 'far away' }];
    for (const _ of [1, 2]) {
      const run = await ledger.imports.begin('prices.csv', 'file', NOW);
      await ledger.heldBars.hold(held, { source: 'file', origin: importName(run), received: NOW });
      const listed = await ledger.heldBars.list({ all: false, limit: 100 });
      const own = listed.filter(({ origin }) => origin === importName(run));
      expect(own).toMatchObject([{ close: 99, state: 'held' }]);
      await undo(run);
    }
  });

  test('imports that begin at the same time, in several processes, get numbers of their own', async () => {
    const pair = await ledgers.pair();
    const begun = Array.from({ length: 8 }, (_, i) => pair[i % 2]!.imports.begin(`${i}`, 'x', NOW));
    expect((await Promise.all(begun)).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('the numbers of deleted imports, and the ids of deleted bars in quarantine, are not used again', async () => {
    const ledger = await ledgers.new();
    const { id: symbolId } = await newSymbol(ledger);
    const held = [{ bar: { symbolId, day: MONDAY, ...flat(99) }, reason: 'far away' }];
    const ids: number[] = [];
    for (const expected of [1, 2]) {
      const run = await ledger.imports.begin('prices.csv', 'file', NOW);
      expect(run).toBe(expected);
      await ledger.heldBars.hold(held, { source: 'file', origin: importName(run), received: NOW });
      ids.push((await ledger.heldBars.list({ all: true, limit: 1 }))[0]!.id);
      await ledger.imports.undo(run, NOW, () => {});
      await ledger.retention.apply(NOW + 366 * MS_PER_DAY);
      expect(await ledger.imports.list(1)).toEqual([]);
    }
    expect(ids).toEqual([1, 2]);
  });

  test('numbers count up, and the newest is listed first', async () => {
    const { ledger } = await open();
    const [first, second] = [
      await ledger.imports.begin('a', 'x', 1),
      await ledger.imports.begin('b', 'x', 2),
    ];
    expect(second).toBe(first + 1);
    expect(await ledger.imports.list(2)).toMatchObject([
      { number: second, file: 'b', ended: undefined },
      { number: first, file: 'a' },
    ]);
  });
});
