import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ClosingBench, MARKET } from '../../../test/support/feeds/closing.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { SIMULATED } from '../../ledger/symbols/sources.ts';
import { settlementTime } from '../../market/session.ts';
import { Closer } from './closer.ts';

onEachEngine('closer', (engine) => {
  const bench = new ClosingBench(engine);

  test('a session gets the bar of its ticks once it has ended, not before', async () => {
    const { day, start, end } = bench.nextDay();
    await bench.ledger.ticks.append(
      [bench.tick(start, 10), bench.tick(start + 1, 14), bench.tick(start + 2, 8), bench.tick(end - 1, 11)],
      'push',
    );
    const closer = new Closer(bench.ledger);
    expect(await closer.close(settlementTime(MARKET, day)! - 1)).toBe(0);
    expect(await bench.revisionsOf(day)).toEqual([]);
    expect(await closer.close(end)).toBe(1);
    expect(await bench.revisionsOf(day)).toEqual([[10, 14, 8, 11, 'session close']]);
  });

  test('a day gets a provisional bar at settlement, from the ticks up to then, and the final one at its end', async () => {
    const { day, start, end } = bench.nextDay();
    const settles = settlementTime(MARKET, day)!;
    await bench.ledger.ticks.append(
      [bench.tick(start, 10), bench.tick(settles, 12), bench.tick(settles + 1, 30)],
      'push',
    );
    const closer = new Closer(bench.ledger);
    expect(await closer.close(settles - 1)).toBe(0);
    expect(await closer.close(settles + 5_000)).toBe(1);
    expect(await closer.close(settles + 15_000)).toBe(0);
    expect(await bench.revisionsOf(day)).toEqual([[10, 12, 10, 12, 'settlement']]);
    await bench.ledger.ticks.append([bench.tick(start + 1, 8)], 'push'); // late, from before the settlement
    await bench.ledger.ticks.append([bench.tick(settles + 2, 40)], 'push'); // after it: does not affect the settlement
    expect(await closer.close(settles + 25_000)).toBe(1);
    expect(await closer.close(end)).toBe(1);
    expect((await bench.revisionsOf(day)).slice(1)).toEqual([
      [10, 12, 8, 12, 'settlement'],
      [10, 40, 8, 40, 'session close'],
    ]);
    await bench.ledger.ticks.append([bench.tick(end - 1, 41)], 'push');
    expect(await closer.close(end + 60_000)).toBe(1);
    expect((await bench.revisionsOf(day)).at(-1)).toEqual([10, 41, 8, 41, 'late ticks']);
  });

  test('a price made after the session is in the bar once every plan sees it', async () => {
    const { day, start, end } = bench.nextDay();
    const [made, hour] = [end + 60_000, 3_600_000]; // the longest delay of the built-in plans
    await bench.ledger.ticks.append([bench.tick(start, 10), bench.tick(made, 12)], 'push');
    const closer = new Closer(bench.ledger);
    expect(await closer.close(made)).toBe(1);
    expect(closer.isBehind).toBe(false);
    expect(await closer.close(made + hour - 1)).toBe(0);
    // Another process finds it, too.
    expect(await new Closer(bench.other).close(made + hour)).toBe(1);
    expect(await closer.close(made + 2 * hour)).toBe(0);
    expect(await bench.revisionsOf(day)).toEqual([
      [10, 10, 10, 10, 'session close'],
      [10, 12, 10, 12, 'late ticks'],
    ]);
  });

  test('a closer that starts after the settlement still publishes the final bar', async () => {
    const { day, start, end } = bench.nextDay();
    const settles = settlementTime(MARKET, day)!;
    await bench.ledger.ticks.append([bench.tick(start, 10), bench.tick(settles + 1, 30)], 'push');
    await new Closer(bench.ledger).close(settles + 5_000); // then this process ends
    expect(await new Closer(bench.other).close(settles + 15_000)).toBe(0);
    expect(await new Closer(bench.other).close(end)).toBe(1);
    expect(await bench.revisionsOf(day)).toEqual([
      [10, 10, 10, 10, 'settlement'],
      [10, 30, 10, 30, 'session close'],
    ]);
  });

  test('a settlement of another source is kept, and simulated days are not settled', async () => {
    const { day, start, end } = bench.nextDay();
    const settles = settlementTime(MARKET, day)!;
    await bench.ledger.ticks.append([bench.tick(start, 10)], 'push');
    await bench.ledger.bars.publish([{ symbolId: bench.gold, day, open: 1, high: 1, low: 1, close: 1 }], {
      source: 'exchange',
      recordedAt: settles,
    });
    const closer = new Closer(bench.ledger);
    expect((await closer.close(settles)) + (await closer.close(end))).toBe(0);
    const silver = await bench.idOf('XAG');
    await bench.ledger.ticks.append([bench.tick(start, 10, silver)], SIMULATED);
    await new Closer(bench.ledger).close(settles + 1);
    expect(await bench.revisionsOf(day, 'simulated', silver)).toEqual([]);
  });

  test('a withdrawn day stays withdrawn until it is closed from later ticks', async () => {
    const { day, start, end } = bench.nextDay();
    const withdraw = (recordedAt: number) =>
      bench.ledger.withdrawals.withdraw([{ symbolId: bench.gold, day }], {
        by: 'operator',
        reason: 'wrong',
        recordedAt,
      });
    await bench.ledger.ticks.append([bench.tick(start, 99)], 'push');
    await new Closer(bench.ledger).close(end);
    await withdraw(start + 10);
    await bench.ledger.ticks.append([bench.tick(start + 5, 98)], 'push');
    expect(await new Closer(bench.ledger).close(end)).toBe(0);
    await bench.ledger.ticks.append([bench.tick(start + 20, 10), bench.tick(start + 30, 12)], 'push');
    expect(await new Closer(bench.ledger).close(end)).toBe(1);
    expect((await bench.revisionsOf(day)).at(-1)).toEqual([10, 12, 10, 12, 'session close']);
  });

  test('the bar has the source of its closing tick', async () => {
    const { day, start, end } = bench.nextDay();
    await bench.ledger.ticks.append([bench.tick(end - 5, 11)], 'desk b');
    await bench.ledger.ticks.append([bench.tick(start, 10)], 'desk a');
    await new Closer(bench.ledger).close(end);
    const [bar] = await bench.ledger.bars.revisions(bench.gold, 'real', day, day);
    expect((await bench.ledger.sources.names()).get(bar!.sourceId)).toBe('desk b');
    expect(bar!.recordedAt).toBe(end);
  });

  test('closing again, by the same closer or a new one, changes nothing', async () => {
    const { day, start, end } = bench.nextDay();
    await bench.ledger.ticks.append([bench.tick(start, 10)], 'push');
    const closer = new Closer(bench.ledger);
    await closer.close(end);
    const { prices } = await bench.ledger.head();
    expect(await closer.close(end + 1)).toBe(0);
    expect(await new Closer(bench.ledger).close(end + 2)).toBe(0);
    expect(await bench.revisionsOf(day)).toHaveLength(1);
    expect((await bench.ledger.head()).prices).toBe(prices);
  });

  test('a late tick creates a revision only if it changes a price', async () => {
    const { day, start, end } = bench.nextDay();
    const closer = new Closer(bench.ledger);
    await bench.ledger.ticks.append([bench.tick(start, 10), bench.tick(end - 10, 12)], 'push');
    await closer.close(end);
    await bench.ledger.ticks.append([bench.tick(end - 20, 11)], 'push');
    expect(await closer.close(end + 1000)).toBe(0);
    await bench.ledger.ticks.append([bench.tick(end - 5, 9)], 'push');
    expect(await closer.close(end + 2000)).toBe(1);
    expect(await bench.revisionsOf(day)).toEqual([
      [10, 12, 10, 12, 'session close'],
      [10, 12, 9, 9, 'late ticks'],
    ]);
  });

  test('a bar of another source is never replaced', async () => {
    const closer = new Closer(bench.ledger);
    const imported = { open: 1, high: 3, low: 1, close: 2 };
    const before = bench.nextDay();
    await bench.ledger.bars.publish([{ symbolId: bench.gold, day: before.day, ...imported }], {
      source: 'file',
      recordedAt: 0,
    });
    await bench.ledger.ticks.append([bench.tick(before.start, 10)], 'push');
    const after = bench.nextDay();
    await bench.ledger.ticks.append([bench.tick(after.start, 10)], 'push');
    await closer.close(after.end);
    await bench.ledger.bars.publish([{ symbolId: bench.gold, day: after.day, ...imported }], {
      source: 'file',
      recordedAt: 0,
    });
    await bench.ledger.ticks.append([bench.tick(after.start + 1, 20)], 'push');
    expect(await closer.close(after.end)).toBe(0);
    expect(await bench.revisionsOf(before.day)).toEqual([[1, 3, 1, 2, null]]);
    expect(await bench.revisionsOf(after.day)).toEqual([
      [10, 10, 10, 10, 'session close'],
      [1, 3, 1, 2, null],
    ]);
  });

  test('ticks in any order and any batches, with closes in between, result in the same bar', async () => {
    const price = fc.integer({ min: 1, max: 99 });
    const parts = fc.array(fc.array(fc.tuple(fc.nat(50), price), { minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(parts, async (drawn) => {
        const { day, start, end } = bench.nextDay();
        const closer = new Closer(bench.ledger);
        const first = new Map<number, number>(); // a repeated tick changes nothing
        for (const part of drawn) {
          for (const [at, value] of part) if (!first.has(at)) first.set(at, value);
          await bench.ledger.ticks.append(
            part.map(([at, value]) => bench.tick(start + at, value)),
            'push',
          );
          await closer.close(end);
        }
        const inOrder = [...first].sort(([a], [b]) => a - b).map(([, value]) => value);
        const expected = [inOrder[0]!, Math.max(...inOrder), Math.min(...inOrder), inOrder.at(-1)!];
        expect((await bench.revisionsOf(day)).at(-1)!.slice(0, 4)).toEqual(expected);
      }),
      { numRuns: 15 },
    );
  });

  test('two closers that race write each bar once', async () => {
    const symbols = (await bench.ledger.symbols.list()).filter((symbol) => symbol.market === 'NYMEX');
    const { day, start, end } = bench.nextDay();
    await bench.ledger.ticks.append(
      symbols.map((symbol) => bench.tick(start, 10, symbol.id)),
      'push',
    );
    const closers = [new Closer(bench.ledger), new Closer(bench.other)];
    const written = await Promise.all(closers.map((closer) => closer.close(end)));
    expect(written[0]! + written[1]!).toBe(symbols.length);
    await bench.ledger.ticks.append(
      symbols.map((symbol) => bench.tick(start + 1, 12, symbol.id)),
      'push',
    );
    const again = await Promise.all(closers.map((closer) => closer.close(end)));
    expect(again[0]! + again[1]!).toBe(symbols.length);
    for (const symbol of symbols) expect(await bench.revisionsOf(day, 'real', symbol.id)).toHaveLength(2);
  });

  test('nobody else can publish between reading a day and writing its bar', async () => {
    const { day, start, end } = bench.nextDay();
    await bench.ledger.ticks.append([bench.tick(start, 10)], 'push');
    let imported: Promise<unknown> | undefined;
    let isImported = false;
    const wait = async () => {
      const bar = { symbolId: bench.gold, day, open: 1, high: 3, low: 1, close: 2 };
      imported ??= bench.other.bars.publish([bar], { source: 'file', recordedAt: 0 }).then(() => {
        isImported = true;
      });
      for (let i = 0; i < 100 && !isImported; i++) await bench.other.head(); // time enough, if it could
      return {
        open: 10,
        high: 10,
        low: 10,
        close: 10,
        sourceId: 2,
        reason: isImported ? 'too late' : 'in time',
      };
    };
    await bench.ledger.closing.publish([{ symbolId: bench.gold, origin: 'real', day }], wait, end);
    await imported;
    expect(await bench.revisionsOf(day)).toEqual([
      [10, 10, 10, 10, 'in time'],
      [1, 3, 1, 2, null],
    ]);
  });

  test('real and simulated ticks of a symbol are closed separately', async () => {
    const silver = await bench.idOf('XAG');
    const { day, start, end } = bench.nextDay();
    await bench.ledger.ticks.append([bench.tick(start, 5, silver)], SIMULATED);
    const closer = new Closer(bench.ledger);
    await closer.close(end);
    expect(await bench.revisionsOf(day, 'simulated', silver)).toEqual([[5, 5, 5, 5, 'session close']]);
    await bench.ledger.ticks.append([bench.tick(start, 7, silver)], 'push');
    await closer.close(end);
    expect(await bench.revisionsOf(day, 'real', silver)).toEqual([[7, 7, 7, 7, 'session close']]);
    expect(await bench.revisionsOf(day, 'simulated', silver)).toHaveLength(1);
  });

  test('the next closer continues an interrupted close, and nothing is lost', async () => {
    const symbols = (await bench.ledger.symbols.list()).filter((symbol) => symbol.market === 'COMEX');
    const { day, start, end } = bench.nextDay();
    await bench.ledger.ticks.append(
      symbols.map((symbol) => bench.tick(start, 10, symbol.id)),
      'push',
    );
    const stopped = new Closer(bench.ledger);
    expect(await stopped.close(end, { signal: AbortSignal.abort() })).toBe(0);
    while ((await stopped.close(end, { budgetMs: 0 })) === 0); // a day of another test may be first
    expect(stopped.isBehind).toBe(true);
    const next = new Closer(bench.other);
    expect(await next.close(end)).toBe(symbols.length - 1);
    expect(next.isBehind).toBe(false);
    for (const symbol of symbols) expect(await bench.revisionsOf(day, 'real', symbol.id)).toHaveLength(1);
  });
});
