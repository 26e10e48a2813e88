import { expect, test } from 'bun:test';
import { statementsOf } from '../../../test/support/database/statements.ts';
import { ClosingBench } from '../../../test/support/feeds/closing.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import type { TradingDay } from '../../ledger/symbols/origin.ts';
import { SIMULATED } from '../../ledger/symbols/sources.ts';
import { MS_PER_DAY } from '../../market/day.ts';
import { Closer } from './closer.ts';
import { Pruner } from './pruner.ts';

const WEEK_MS = 7 * MS_PER_DAY;
const LONGEST_DELAY_MS = 3_600_000; // of the built-in plan `free`

onEachEngine('old ticks', (engine) => {
  const bench = new ClosingBench(engine);

  test('are kept until session, delay and a week have passed, and while their day has no bar', async () => {
    const { day, start, end } = bench.nextDay();
    const left = async () => (await bench.ledger.ticks.ofDay(bench.gold, 'real', day)).length;
    const closer = new Closer(bench.ledger);
    const pruner = new Pruner(bench.ledger);
    await bench.ledger.ticks.append([bench.tick(start, 10), bench.tick(end - 1, 12)], 'push');
    const over = end + LONGEST_DELAY_MS + WEEK_MS;
    await pruner.prune(over);
    expect(await left()).toBe(2); // no bar yet
    await closer.close(over);
    await pruner.prune(over - 1);
    expect(await left()).toBe(2);
    await pruner.prune(over);
    expect(await left()).toBe(0);
  });

  test('a late tick keeps the ticks of its day for another week, and alone makes no bar', async () => {
    const { day, start, end } = bench.nextDay();
    const left = async () => (await bench.ledger.ticks.ofDay(bench.gold, 'real', day)).length;
    const closer = new Closer(bench.ledger);
    const pruner = new Pruner(bench.ledger);
    await bench.ledger.ticks.append([bench.tick(start, 10), bench.tick(end - 1, 12)], 'push');
    await closer.close(end);
    const over = end + LONGEST_DELAY_MS + WEEK_MS;
    await bench.ledger.ticks.append([{ ...bench.tick(start + 1, 15), received: over - 1 }], 'push');
    await pruner.prune(over);
    expect(await left()).toBe(3);
    expect(await closer.close(over)).toBe(1);
    await pruner.prune(over + 2 * WEEK_MS);
    expect(await left()).toBe(0);
    await bench.ledger.ticks.append([{ ...bench.tick(start + 2, 99), received: over + 2 * WEEK_MS }], 'push');
    expect(await closer.close(over + 2 * WEEK_MS)).toBe(0);
    expect(await bench.revisionsOf(day)).toEqual([
      [10, 12, 10, 12, 'session close'],
      [10, 15, 10, 12, 'late ticks'],
    ]);
  });

  test('that are simulated are deleted without a bar once their symbol has real prices', async () => {
    const copper = await bench.idOf('HG-FUT');
    const { day, start, end } = bench.nextDay();
    await bench.ledger.ticks.append([bench.tick(start, 5, copper)], SIMULATED);
    await bench.ledger.ticks.append([bench.tick(start, 7, copper)], 'push');
    const closer = new Closer(bench.ledger);
    const pruner = new Pruner(bench.ledger);
    await closer.close(end);
    expect(await bench.revisionsOf(day, 'simulated', copper)).toEqual([]);
    await pruner.prune(end + LONGEST_DELAY_MS + WEEK_MS);
    expect(await bench.ledger.ticks.ofDay(copper, 'simulated', day)).toEqual([]);
  });

  test('an interrupted deletion is resumed, and the remaining ticks of the day make no bar', async () => {
    const { day, start, end } = bench.nextDay();
    const of = { symbolId: bench.gold, origin: 'real', day } as const;
    const ticks = Array.from({ length: 2_500 }, (_, i) => bench.tick(start + i, 10 + (i % 7)));
    await bench.ledger.ticks.append(ticks, 'push');
    const closer = new Closer(bench.ledger);
    await closer.close(end);
    const over = end + LONGEST_DELAY_MS + WEEK_MS;
    await bench.ledger.engine.write(async (tx) => {
      await tx`INSERT INTO tick_pruning (symbol_id, day, simulated) VALUES (${bench.gold}, ${day}, 0)`;
      await tx`DELETE FROM tick WHERE symbol_id = ${bench.gold} AND day = ${day} AND at < ${start + 2_000}`;
    });
    expect(await bench.ledger.ticks.days(bench.gold, 'real')).not.toContain(day);
    await bench.ledger.ticks.append([{ ...bench.tick(end - 1, 99), received: over }], 'push');
    expect(await closer.close(over)).toBe(0);
    expect(await bench.revisionsOf(day)).toHaveLength(1);
    expect(await new Pruner(bench.other).prune(over)).toContainEqual(of);
    expect(await bench.ledger.ticks.ofDay(bench.gold, 'real', day)).toMatchObject([{ price: 99 }]);
    expect(await closer.close(over + 1)).toBe(0);
  });

  test('a stop interrupts a deletion between two batches', async () => {
    const { day, start, end } = bench.nextDay();
    await bench.ledger.ticks.append([bench.tick(start, 10)], 'push');
    const closer = new Closer(bench.ledger);
    const pruner = new Pruner(bench.ledger);
    const over = end + LONGEST_DELAY_MS + WEEK_MS;
    await closer.close(over);
    expect(await pruner.prune(over, { signal: AbortSignal.abort() })).toEqual([]);
    expect(pruner.isBehind).toBe(true);
    expect(await pruner.prune(over)).toContainEqual({ symbolId: bench.gold, origin: 'real', day });
    expect(pruner.isBehind).toBe(false);
  });

  test('of several symbols are deleted together, oldest first', async () => {
    const { day, start, end } = bench.nextDay();
    const symbols = [bench.gold, await bench.idOf('XAG')];
    const engine: { rowsPerDelete: number } = bench.ledger.engine;
    engine.rowsPerDelete = 2_000; // PostgreSQL's batches are larger
    for (const symbolId of symbols) {
      const ticks = Array.from({ length: 5_000 }, (_, i) => bench.tick(start + i, 10, symbolId));
      await bench.ledger.ticks.append(ticks, 'push');
    }
    const over = end + LONGEST_DELAY_MS + WEEK_MS;
    const closer = new Closer(bench.ledger);
    const pruner = new Pruner(bench.ledger);
    await closer.close(over);
    const leftOf = (symbolId: number) => bench.ledger.ticks.ofDay(symbolId, 'real', day);
    const left = () => Promise.all(symbols.map(leftOf));
    do await pruner.prune(over, { budgetMs: 0 });
    while ((await left()).flat().length > 6_000);
    for (const ticks of await left()) {
      expect(ticks).toHaveLength(3_000);
      expect(Math.min(...ticks.map(({ at }) => at))).toBe(start + 2_000);
    }
    expect(pruner.isBehind).toBe(true);
    await pruner.prune(over);
    expect(await left()).toEqual([[], []]);
    expect(pruner.isBehind).toBe(false);
  });

  test('of one day are deleted before those of the next day are marked', async () => {
    const days = [bench.nextDay(), bench.nextDay()];
    const ticks = days.map(({ start }) => bench.tick(start, 10));
    await bench.ledger.ticks.append(ticks, 'push');
    const over = days[1]!.end + LONGEST_DELAY_MS + WEEK_MS;
    const closer = new Closer(bench.ledger);
    const pruner = new Pruner(bench.ledger);
    await closer.close(over);
    const pruned: TradingDay[] = [];
    while (pruned.length === 0) pruned.push(...(await pruner.prune(over, { budgetMs: 0 })));
    expect(pruned).toEqual([{ symbolId: bench.gold, origin: 'real', day: days[0]!.day }]);
    expect((await bench.ledger.engine.read`SELECT * FROM tick_pruning`).length).toBe(0);
    expect(await pruner.prune(over)).toContainEqual({
      symbolId: bench.gold,
      origin: 'real',
      day: days[1]!.day,
    });
  });

  test('of many symbols delay pushes once, not once for each of them', async () => {
    const { day, start, end } = bench.nextDay();
    const symbols = (await bench.ledger.symbols.list())
      .filter(({ market }) => market === 'COMEX')
      .slice(0, 8);
    await bench.ledger.ticks.append(
      symbols.map(({ id }) => bench.tick(start, 10, id)),
      'push',
    );
    const over = end + LONGEST_DELAY_MS + WEEK_MS;
    const closer = new Closer(bench.ledger);
    const pruner = new Pruner(bench.ledger);
    await closer.close(over);
    const pruned: TradingDay[] = [];
    const statements = await statementsOf(bench.ledger, async () => {
      pruned.push(...(await pruner.prune(over)));
    });
    for (const { id: symbolId } of symbols) expect(pruned).toContainEqual({ symbolId, origin: 'real', day });
    // The counter's row serializes all price writes.
    const locks = statements.filter(({ text }) => text.includes('UPDATE counter'));
    expect(locks.map(({ uses }) => uses)).toEqual([1]);
  });
});
