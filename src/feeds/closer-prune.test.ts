import { expect, test } from 'bun:test';
import { ClosingBench } from '../../test/support/closing.ts';
import { onEachEngine } from '../../test/support/ledger.ts';
import { SIMULATED } from '../ledger/sources.ts';
import { MS_PER_DAY } from '../market/day.ts';
import { Closer } from './closer.ts';

const WEEK_MS = 7 * MS_PER_DAY;
const LONGEST_DELAY_MS = 3_600_000; // of the built-in plan `free`

onEachEngine('ticks that a closer lets go of', (engine) => {
  const bench = new ClosingBench(engine);

  test('ticks stay until session, delay and a week are over, and while their day has no bar', async () => {
    const { day, start, end } = bench.nextDay();
    const left = async () => (await bench.ledger.ticks.ofDay(bench.gold, 'real', day)).length;
    const closer = new Closer(bench.ledger);
    await bench.ledger.ticks.append([bench.tick(start, 10), bench.tick(end - 1, 12)], 'push');
    const over = end + LONGEST_DELAY_MS + WEEK_MS;
    await closer.prune(over);
    expect(await left()).toBe(2); // no bar yet
    await closer.close(over);
    await closer.prune(over - 1);
    expect(await left()).toBe(2);
    await closer.prune(over);
    expect(await left()).toBe(0);
  });

  test('a straggler keeps the ticks of its day for another week, and alone it makes no bar', async () => {
    const { day, start, end } = bench.nextDay();
    const left = async () => (await bench.ledger.ticks.ofDay(bench.gold, 'real', day)).length;
    const closer = new Closer(bench.ledger);
    await bench.ledger.ticks.append([bench.tick(start, 10), bench.tick(end - 1, 12)], 'push');
    await closer.close(end);
    const over = end + LONGEST_DELAY_MS + WEEK_MS;
    await bench.ledger.ticks.append([{ ...bench.tick(start + 1, 15), received: over - 1 }], 'push');
    await closer.prune(over);
    expect(await left()).toBe(3);
    expect(await closer.close(over)).toBe(1);
    await closer.prune(over + 2 * WEEK_MS);
    expect(await left()).toBe(0);
    await bench.ledger.ticks.append([{ ...bench.tick(start + 2, 99), received: over + 2 * WEEK_MS }], 'push');
    expect(await closer.close(over + 2 * WEEK_MS)).toBe(0);
    expect(await bench.revisionsOf(day)).toEqual([
      [10, 12, 10, 12, 'session close'],
      [10, 15, 10, 12, 'late ticks'],
    ]);
  });

  test('simulated ticks of a symbol that has got real prices are let go of without a bar', async () => {
    const copper = await bench.idOf('HG-FUT');
    const { day, start, end } = bench.nextDay();
    await bench.ledger.ticks.append([bench.tick(start, 5, copper)], SIMULATED);
    await bench.ledger.ticks.append([bench.tick(start, 7, copper)], 'push');
    const closer = new Closer(bench.ledger);
    await closer.close(end);
    expect(await bench.revisionsOf(day, 'simulated', copper)).toEqual([]);
    await closer.prune(end + LONGEST_DELAY_MS + WEEK_MS);
    expect(await bench.ledger.ticks.ofDay(copper, 'simulated', day)).toEqual([]);
  });
});
