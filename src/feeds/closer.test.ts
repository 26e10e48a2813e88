import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { newLedgerUrl, onEachEngine } from '../../test/support/ledger.ts';
import type { Strand } from '../ledger/bars.ts';
import { Ledger } from '../ledger/ledger.ts';
import { SIMULATED } from '../ledger/sources.ts';
import type { NewTick } from '../ledger/ticks.ts';
import { type Day, dayOf, MS_PER_DAY } from '../market/day.ts';
import { MARKETS, sessionEnd, sessionStart, settlementTime } from '../market/session.ts';
import { Closer } from './closer.ts';

const CODE = 'XAU';
const market = MARKETS.COMEX!;
const WEEK_MS = 7 * MS_PER_DAY;
const LONGEST_DELAY_MS = 3_600_000; // of the built-in plan `free`

onEachEngine('closer', (engine) => {
  let url: string;
  let ledger: Ledger;
  let other: Ledger; // as another process would have it
  let gold: number;
  let day: Day = dayOf(2026, 3, 2)!; // a Monday; each test takes the next weeks' Mondays
  const clock = { now: () => 0 };

  beforeAll(async () => {
    url = await newLedgerUrl(engine);
    ledger = await Ledger.open(url, clock);
    other = await Ledger.open(url, clock);
    gold = (await ledger.symbols.list()).find((symbol) => symbol.code === CODE)!.id;
  });
  afterAll(async () => {
    await ledger.close();
    await other.close();
  });

  const nextDay = () => {
    day += 7;
    return { day, start: sessionStart(market, day), end: sessionEnd(market, day) };
  };
  const tick = (at: number, price: number, symbolId = gold): NewTick => ({
    symbolId,
    id: `${at}`,
    at,
    received: at,
    price,
  });
  const revisionsOf = async (of: Day, strand: Strand = 'real', symbolId = gold) =>
    (await ledger.bars.revisions(symbolId, strand, of, of)).map(({ open, high, low, close, reason }) => [
      open,
      high,
      low,
      close,
      reason,
    ]);

  test('a session that has ended gets the bar of its ticks, and one that runs does not', async () => {
    const { day, start, end } = nextDay();
    await ledger.ticks.append(
      [tick(start, 10), tick(start + 1, 14), tick(start + 2, 8), tick(end - 1, 11)],
      'push',
    );
    const closer = new Closer(ledger);
    expect(await closer.close(settlementTime(market, day)! - 1)).toBe(0);
    expect(await revisionsOf(day)).toEqual([]);
    expect(await closer.close(end)).toBe(1);
    expect(await revisionsOf(day)).toEqual([[10, 14, 8, 11, 'session close']]);
  });

  test('at settlement a day gets a provisional bar of the ticks up to then, and at its end the final one', async () => {
    const { day, start, end } = nextDay();
    const settles = settlementTime(market, day)!;
    await ledger.ticks.append([tick(start, 10), tick(settles, 12), tick(settles + 1, 30)], 'push');
    const closer = new Closer(ledger);
    expect(await closer.close(settles - 1)).toBe(0);
    expect(await closer.close(settles + 5_000)).toBe(1);
    expect(await closer.close(settles + 15_000)).toBe(0);
    expect(await revisionsOf(day)).toEqual([[10, 12, 10, 12, 'settlement']]);
    await ledger.ticks.append([tick(start + 1, 8)], 'push'); // late, and of before the settlement
    await ledger.ticks.append([tick(settles + 2, 40)], 'push'); // after it: no reason to settle anew
    expect(await closer.close(settles + 25_000)).toBe(1);
    expect(await closer.close(end)).toBe(1);
    expect((await revisionsOf(day)).slice(1)).toEqual([
      [10, 12, 8, 12, 'settlement'],
      [10, 40, 8, 40, 'session close'],
    ]);
    await ledger.ticks.append([tick(end - 1, 41)], 'push');
    expect(await closer.close(end + 60_000)).toBe(1);
    expect((await revisionsOf(day)).at(-1)).toEqual([10, 41, 8, 41, 'late ticks']);
  });

  test('a closer that starts after the settlement still makes the final bar', async () => {
    const { day, start, end } = nextDay();
    const settles = settlementTime(market, day)!;
    await ledger.ticks.append([tick(start, 10), tick(settles + 1, 30)], 'push');
    await new Closer(ledger).close(settles + 5_000); // and then this process ends
    expect(await new Closer(other).close(settles + 15_000)).toBe(0);
    expect(await new Closer(other).close(end)).toBe(1);
    expect(await revisionsOf(day)).toEqual([
      [10, 10, 10, 10, 'settlement'],
      [10, 30, 10, 30, 'session close'],
    ]);
  });

  test('a settlement from elsewhere stays, and simulated days are not settled', async () => {
    const { day, start, end } = nextDay();
    const settles = settlementTime(market, day)!;
    await ledger.ticks.append([tick(start, 10)], 'push');
    await ledger.bars.publish([{ symbolId: gold, day, open: 1, high: 1, low: 1, close: 1 }], {
      source: 'exchange',
      recordedAt: settles,
    });
    const closer = new Closer(ledger);
    expect((await closer.close(settles)) + (await closer.close(end))).toBe(0);
    const silver = (await ledger.symbols.list()).find((symbol) => symbol.code === 'XAG')!.id;
    await ledger.ticks.append([tick(start, 10, silver)], SIMULATED);
    await new Closer(ledger).close(settles + 1);
    expect(await revisionsOf(day, 'simulated', silver)).toEqual([]);
  });

  test('the bar has the source of its closing tick', async () => {
    const { day, start, end } = nextDay();
    await ledger.ticks.append([tick(end - 5, 11)], 'desk b');
    await ledger.ticks.append([tick(start, 10)], 'desk a');
    await new Closer(ledger).close(end);
    const [bar] = await ledger.bars.revisions(gold, 'real', day, day);
    expect((await ledger.sources.names()).get(bar!.sourceId)).toBe('desk b');
    expect(bar!.recordedAt).toBe(end);
  });

  test('closing again, by the same closer or a new one, changes nothing', async () => {
    const { day, start, end } = nextDay();
    await ledger.ticks.append([tick(start, 10)], 'push');
    const closer = new Closer(ledger);
    await closer.close(end);
    const { prices } = await ledger.head();
    expect(await closer.close(end + 1)).toBe(0);
    expect(await new Closer(ledger).close(end + 2)).toBe(0);
    expect(await revisionsOf(day)).toHaveLength(1);
    expect((await ledger.head()).prices).toBe(prices);
  });

  test('a late tick makes a revision, and one that changes no price makes none', async () => {
    const { day, start, end } = nextDay();
    const closer = new Closer(ledger);
    await ledger.ticks.append([tick(start, 10), tick(end - 10, 12)], 'push');
    await closer.close(end);
    await ledger.ticks.append([tick(end - 20, 11)], 'push');
    expect(await closer.close(end + 1000)).toBe(0);
    await ledger.ticks.append([tick(end - 5, 9)], 'push');
    expect(await closer.close(end + 2000)).toBe(1);
    expect(await revisionsOf(day)).toEqual([
      [10, 12, 10, 12, 'session close'],
      [10, 12, 9, 9, 'late ticks'],
    ]);
  });

  test('a bar that came from elsewhere is never touched', async () => {
    const closer = new Closer(ledger);
    const imported = { open: 1, high: 3, low: 1, close: 2 };
    const before = nextDay();
    await ledger.bars.publish([{ symbolId: gold, day: before.day, ...imported }], {
      source: 'file',
      recordedAt: 0,
    });
    await ledger.ticks.append([tick(before.start, 10)], 'push');
    const after = nextDay();
    await ledger.ticks.append([tick(after.start, 10)], 'push');
    await closer.close(after.end);
    await ledger.bars.publish([{ symbolId: gold, day: after.day, ...imported }], {
      source: 'file',
      recordedAt: 0,
    });
    await ledger.ticks.append([tick(after.start + 1, 20)], 'push');
    expect(await closer.close(after.end)).toBe(0);
    expect(await revisionsOf(before.day)).toEqual([[1, 3, 1, 2, null]]);
    expect(await revisionsOf(after.day)).toEqual([
      [10, 10, 10, 10, 'session close'],
      [1, 3, 1, 2, null],
    ]);
  });

  test('ticks in any order, in any parts, with closes in between, end as the same bar', async () => {
    const price = fc.integer({ min: 1, max: 99 });
    const parts = fc.array(fc.array(fc.tuple(fc.nat(50), price), { minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(parts, async (drawn) => {
        const { day, start, end } = nextDay();
        const closer = new Closer(ledger);
        const first = new Map<number, number>(); // a tick that is sent again changes nothing
        for (const part of drawn) {
          for (const [at, value] of part) if (!first.has(at)) first.set(at, value);
          await ledger.ticks.append(
            part.map(([at, value]) => tick(start + at, value)),
            'push',
          );
          await closer.close(end);
        }
        const inOrder = [...first].sort(([a], [b]) => a - b).map(([, value]) => value);
        const expected = [inOrder[0]!, Math.max(...inOrder), Math.min(...inOrder), inOrder.at(-1)!];
        expect((await revisionsOf(day)).at(-1)!.slice(0, 4)).toEqual(expected);
      }),
      { numRuns: 15 },
    );
  });

  test('two closers that race write each bar once', async () => {
    const symbols = (await ledger.symbols.list()).filter((symbol) => symbol.market === 'NYMEX');
    const { day, start, end } = nextDay();
    await ledger.ticks.append(
      symbols.map((symbol) => tick(start, 10, symbol.id)),
      'push',
    );
    const closers = [new Closer(ledger), new Closer(other)];
    const written = await Promise.all(closers.map((closer) => closer.close(end)));
    expect(written[0]! + written[1]!).toBe(symbols.length);
    await ledger.ticks.append(
      symbols.map((symbol) => tick(start + 1, 12, symbol.id)),
      'push',
    );
    const again = await Promise.all(closers.map((closer) => closer.close(end)));
    expect(again[0]! + again[1]!).toBe(symbols.length);
    for (const symbol of symbols) expect(await revisionsOf(day, 'real', symbol.id)).toHaveLength(2);
  });

  test('nobody else publishes between the look at a day and the write of its bar', async () => {
    const { day, start, end } = nextDay();
    await ledger.ticks.append([tick(start, 10)], 'push');
    let imported: Promise<unknown> | undefined;
    let isImported = false;
    const wait = async () => {
      const bar = { symbolId: gold, day, open: 1, high: 3, low: 1, close: 2 };
      imported ??= other.bars.publish([bar], { source: 'file', recordedAt: 0 }).then(() => {
        isImported = true;
      });
      for (let i = 0; i < 100 && !isImported; i++) await other.head(); // time enough, if it could
      return {
        open: 10,
        high: 10,
        low: 10,
        close: 10,
        sourceId: 2,
        reason: isImported ? 'too late' : 'in time',
      };
    };
    await ledger.closing.publish([{ symbolId: gold, strand: 'real', day }], wait, end);
    await imported;
    expect(await revisionsOf(day)).toEqual([
      [10, 10, 10, 10, 'in time'],
      [1, 3, 1, 2, null],
    ]);
  });

  test('the two strands of a symbol are closed apart', async () => {
    const silver = (await ledger.symbols.list()).find((symbol) => symbol.code === 'XAG')!.id;
    const { day, start, end } = nextDay();
    await ledger.ticks.append([tick(start, 5, silver)], SIMULATED);
    const closer = new Closer(ledger);
    await closer.close(end);
    expect(await revisionsOf(day, 'simulated', silver)).toEqual([[5, 5, 5, 5, 'session close']]);
    await ledger.ticks.append([tick(start, 7, silver)], 'push');
    await closer.close(end);
    expect(await revisionsOf(day, 'real', silver)).toEqual([[7, 7, 7, 7, 'session close']]);
    expect(await revisionsOf(day, 'simulated', silver)).toHaveLength(1);
  });

  test('ticks stay until session, delay and a week are over, and while their day has no bar', async () => {
    const { day, start, end } = nextDay();
    const left = async () => (await ledger.ticks.ofDay(gold, 'real', day)).length;
    const closer = new Closer(ledger);
    await ledger.ticks.append([tick(start, 10), tick(end - 1, 12)], 'push');
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
    const { day, start, end } = nextDay();
    const left = async () => (await ledger.ticks.ofDay(gold, 'real', day)).length;
    const closer = new Closer(ledger);
    await ledger.ticks.append([tick(start, 10), tick(end - 1, 12)], 'push');
    await closer.close(end);
    const over = end + LONGEST_DELAY_MS + WEEK_MS;
    await ledger.ticks.append([{ ...tick(start + 1, 15), received: over - 1 }], 'push');
    await closer.prune(over);
    expect(await left()).toBe(3);
    expect(await closer.close(over)).toBe(1);
    await closer.prune(over + 2 * WEEK_MS);
    expect(await left()).toBe(0);
    await ledger.ticks.append([{ ...tick(start + 2, 99), received: over + 2 * WEEK_MS }], 'push');
    expect(await closer.close(over + 2 * WEEK_MS)).toBe(0);
    expect(await revisionsOf(day)).toEqual([
      [10, 12, 10, 12, 'session close'],
      [10, 15, 10, 12, 'late ticks'],
    ]);
  });

  test('simulated ticks of a symbol that has got real prices are let go of without a bar', async () => {
    const copper = (await ledger.symbols.list()).find((symbol) => symbol.code === 'HG-FUT')!.id;
    const { day, start, end } = nextDay();
    await ledger.ticks.append([tick(start, 5, copper)], SIMULATED);
    await ledger.ticks.append([tick(start, 7, copper)], 'push');
    const closer = new Closer(ledger);
    await closer.close(end);
    expect(await revisionsOf(day, 'simulated', copper)).toEqual([]);
    await closer.prune(end + LONGEST_DELAY_MS + WEEK_MS);
    expect(await ledger.ticks.ofDay(copper, 'simulated', day)).toEqual([]);
  });
});
