import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { NewBar } from '../../src/ledger/prices/bars.ts';
import { FIRST_DAY, LAST_DAY } from '../../src/market/day.ts';
import { parseNumber } from '../../src/market/decimal.ts';
import { onEachEngine } from '../support/ledger.ts';
import { day, flat, ledgersOf, NOW, newSymbol, symbolOf } from '../support/ledgers.ts';

const MONDAY = day('2026-07-13');

onEachEngine('bars', (engine) => {
  const ledgers = ledgersOf(engine);

  test('a new day is taken, the same again is unchanged, another price is a correction', async () => {
    const { ledger, symbolId, publish } = await withSymbol();
    const bar = { symbolId, day: MONDAY, open: 1, high: 3, low: 0.5, close: 2 };
    expect(await publish([bar], 'exchange')).toEqual({ taken: 1, unchanged: 0, corrected: 0 });
    expect(await publish([bar], 'exchange')).toEqual({ taken: 0, unchanged: 1, corrected: 0 });
    for (const field of ['open', 'high', 'low', 'close'] as const) {
      bar[field] += 0.01;
      expect(await publish([{ ...bar }], 'exchange')).toEqual({ taken: 0, unchanged: 0, corrected: 1 });
    }
    expect(await current(ledger, symbolId)).toEqual([{ ...bar, symbolId }]);
  });

  test('every version is kept with its own revision, source, time and reason', async () => {
    const { ledger, symbolId } = await withSymbol();
    const bar = { symbolId, day: MONDAY };
    await ledger.bars.publish([{ ...bar, ...flat(18.31) }], { source: 'exchange', recordedAt: NOW });
    await ledger.bars.publish([{ ...bar, ...flat(-36.98) }], {
      source: 'desk',
      recordedAt: NOW + 1,
      reason: 'settled',
    });
    const versions = await ledger.bars.revisions(symbolId, 'real', MONDAY, MONDAY);
    expect(versions).toMatchObject([
      { day: MONDAY, ...flat(18.31), recordedAt: NOW, reason: null },
      { day: MONDAY, ...flat(-36.98), recordedAt: NOW + 1, reason: 'settled' },
    ]);
    expect(versions[0]!.revision).toBeLessThan(versions[1]!.revision);
    const names = await ledger.sources.names();
    const sources = versions.map(({ sourceId }) => names.get(sourceId));
    expect(sources).toEqual(['exchange', 'desk']);
  });

  test('the same prices from another source are taken once', async () => {
    const { ledger, symbolId, publish } = await withSymbol();
    const bar = { symbolId, day: MONDAY, ...flat(7) };
    await publish([bar], 'exchange');
    expect(await publish([bar], 'desk')).toEqual({ taken: 1, unchanged: 0, corrected: 0 });
    expect(await publish([bar], 'desk')).toEqual({ taken: 0, unchanged: 1, corrected: 0 });
    expect(await ledger.bars.revisions(symbolId, 'real', MONDAY, MONDAY)).toHaveLength(2);
  });

  test('a price that returns to its earlier value is a correction too', async () => {
    const { publish, symbolId } = await withSymbol();
    await publish([{ symbolId, day: MONDAY, ...flat(1) }], 'exchange');
    await publish([{ symbolId, day: MONDAY, ...flat(2) }], 'exchange');
    expect((await publish([{ symbolId, day: MONDAY, ...flat(1) }], 'exchange')).corrected).toBe(1);
  });

  test('the order of rows does not matter, nor how many transactions they take', async () => {
    const { ledger, symbolId, publish } = await withSymbol();
    const other = (await newSymbol(ledger)).id;
    const bars: NewBar[] = [];
    for (let i = 0; i < 2_500; i++) {
      bars.push({ symbolId, day: MONDAY - ((i * 7) % 2_500), ...flat(i) });
      bars.push({ symbolId: other, day: MONDAY - ((i * 11) % 2_500), ...flat(0.25 - i) });
    }
    const told: number[] = [];
    const before = await ledger.bars.count();
    const result = await ledger.bars.publish(bars, { source: 'exchange', recordedAt: NOW }, (n) =>
      told.push(n),
    );
    expect(result).toEqual({ taken: 5_000, unchanged: 0, corrected: 0 });
    expect(told).toEqual([2_000, 4_000, 5_000]);
    for (const id of [symbolId, other]) {
      const sorted = bars.filter((bar) => bar.symbolId === id).sort((a, b) => a.day - b.day);
      expect(await current(ledger, id)).toEqual(sorted);
    }
    expect(await publish(bars.toReversed(), 'exchange')).toEqual({
      taken: 0,
      unchanged: 5_000,
      corrected: 0,
    });
    expect(await ledger.bars.count()).toBe(before + 5_000);
  });

  test('a long import lets the event loop turn between its transactions', async () => {
    const { symbolId, publish } = await withSymbol();
    const bars = Array.from({ length: 20_000 }, (_, i) => ({ symbolId, day: MONDAY - i, ...flat(i) }));
    let turns = 0;
    let importing = true;
    const watch = () => {
      if (!importing) return;
      turns++;
      setImmediate(watch);
    };
    setImmediate(watch);
    await publish(bars, 'exchange');
    importing = false;
    expect(turns).toBeGreaterThanOrEqual(9); // ten transactions
  });

  test('prices of up to 15 significant digits, of any size and sign, come back as the same numbers', async () => {
    const { ledger, symbolId } = await withSymbol();
    const price = fc
      .tuple(fc.maxSafeNat(), fc.integer({ min: -12, max: 8 }), fc.boolean())
      .map(([n, exponent, negative]) => parseNumber(`${negative ? '-' : ''}${n % 1e15}e${exponent}`)!);
    const bar = fc.record({
      open: price,
      high: fc.integer({ min: -5, max: 5 }).map((n) => n + 0),
      low: fc.constantFrom(2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1, 1e-7, 0.1, 1e15, 0),
      close: price,
    });
    let next = FIRST_DAY;
    await fc.assert(
      fc.asyncProperty(fc.array(bar, { minLength: 1, maxLength: 30 }), async (bars) => {
        const days = bars.map((prices) => ({ symbolId, day: next++, ...prices }));
        await ledger.bars.publish(days, { source: 'exchange', recordedAt: NOW });
        const found = await ledger.bars.revisions(symbolId, 'real', days[0]!.day, days.at(-1)!.day);
        expect(
          found.map(({ day, open, high, low, close }) => ({ symbolId, day, open, high, low, close })),
        ).toEqual(days);
      }),
      { numRuns: 30 },
    );
  });

  test('the first and the last day of real and of simulated prices are separate', async () => {
    const { ledger, symbolId, publish } = await withSymbol();
    expect(await ledger.bars.recent.span(symbolId, 'real')).toBeUndefined();
    await publish([{ symbolId, day: FIRST_DAY, ...flat(1) }], 'simulated');
    await publish([{ symbolId, day: MONDAY, ...flat(1) }], 'exchange');
    await publish([{ symbolId, day: LAST_DAY, ...flat(1) }], 'exchange');
    expect(await ledger.bars.recent.span(symbolId, 'simulated')).toMatchObject({
      firstDay: FIRST_DAY,
      lastDay: FIRST_DAY,
    });
    expect(await ledger.bars.recent.span(symbolId, 'real')).toEqual({
      ...{ firstDay: MONDAY, isFirstWithdrawn: false },
      ...{ recentFrom: MONDAY, lastDay: LAST_DAY },
    });
  });

  test('real prices hide simulated ones for good: nothing simulated is written after them', async () => {
    const { ledger, symbolId, code, publish } = await withSymbol();
    const { id: other, code: otherCode } = await newSymbol(ledger);
    await publish([{ symbolId, day: MONDAY - 1, ...flat(1) }], 'simulated');
    expect((await symbolOf(ledger, code)).real).toBe(false);

    const before = await ledger.head();
    await publish([{ symbolId, day: MONDAY, ...flat(2) }], 'exchange');
    expect((await symbolOf(ledger, code)).real).toBe(true);
    expect((await symbolOf(ledger, otherCode)).real).toBe(false);
    expect((await ledger.head()).prices).toBeGreaterThan(before.prices);

    const late = [symbolId, other].map((id) => ({ symbolId: id, day: MONDAY + 1, ...flat(3) }));
    expect(await publish(late, 'simulated')).toEqual({ taken: 1, unchanged: 1, corrected: 0 });
    expect(
      (await ledger.bars.revisions(symbolId, 'simulated', FIRST_DAY, LAST_DAY)).map((b) => b.day),
    ).toEqual([MONDAY - 1]);
    expect((await ledger.bars.revisions(symbolId, 'real', FIRST_DAY, LAST_DAY)).map((b) => b.day)).toEqual([
      MONDAY,
    ]);
    expect(await ledger.bars.revisions(other, 'simulated', FIRST_DAY, LAST_DAY)).toHaveLength(1);
  });

  test('a real price on a day that has a simulated one is new, not a correction of it', async () => {
    const { symbolId, publish } = await withSymbol();
    await publish([{ symbolId, day: MONDAY, ...flat(1) }], 'simulated');
    expect(await publish([{ symbolId, day: MONDAY, ...flat(2) }], 'exchange')).toEqual({
      taken: 1,
      unchanged: 0,
      corrected: 0,
    });
  });

  test('changes name the days that were touched, and only those of the asked revisions', async () => {
    const { ledger, symbolId, publish } = await withSymbol();
    const other = (await newSymbol(ledger)).id;
    const start = (await ledger.head()).prices;
    await publish(
      [MONDAY + 3, MONDAY, MONDAY + 1].map((d) => ({ symbolId, day: d, ...flat(1) })),
      'exchange',
    );
    const middle = (await ledger.head()).prices;
    await publish([{ symbolId: other, day: MONDAY, ...flat(1) }], 'exchange');
    await publish([{ symbolId, day: MONDAY, ...flat(1) }], 'exchange'); // unchanged: nothing to report
    const end = (await ledger.head()).prices;
    expect(await ledger.bars.changes(start, middle)).toEqual([
      { symbolId, firstDay: MONDAY, lastDay: MONDAY + 3 },
    ]);
    expect(await ledger.bars.changes(middle, end)).toEqual([
      { symbolId: other, firstDay: MONDAY, lastDay: MONDAY },
    ]);
    expect(await ledger.bars.changes(end, end)).toEqual([]);
  });

  test('bars of a symbol that does not exist are refused', async () => {
    const { ledger, publish } = await withSymbol();
    const before = await ledger.bars.count();
    await expect(publish([{ symbolId: 999_999, day: MONDAY, ...flat(1) }], 'exchange')).rejects.toThrow(
      'no symbol has the id 999999',
    );
    expect(await ledger.bars.count()).toBe(before);
  });

  async function withSymbol() {
    const ledger = await ledgers.shared();
    const { id: symbolId, code } = await newSymbol(ledger);
    const publish = (bars: readonly NewBar[], source: string) =>
      ledger.bars.publish(bars, { source, recordedAt: NOW });
    return { ledger, symbolId, code, publish };
  }
});

/** The current real bars of a symbol: the last version of each day. */
async function current(ledger: Ledger, symbolId: number): Promise<NewBar[]> {
  const byDay = new Map<number, NewBar>();
  for (const version of await ledger.bars.revisions(symbolId, 'real', FIRST_DAY, LAST_DAY)) {
    const { day, open, high, low, close } = version;
    byDay.set(day, { symbolId, day, open, high, low, close });
  }
  return [...byDay.values()];
}
