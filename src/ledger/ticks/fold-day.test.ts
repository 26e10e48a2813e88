import { expect, test } from 'bun:test';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { day, ledgersOf, NOW, newSymbol } from '../../../test/support/ledgers.ts';
import { Seeded } from '../../../test/support/seeded.ts';
import { type Fold, foldTick } from '../../market/bar.ts';
import type { FoldLimits } from './day-pages.ts';
import { DayFolder } from './fold-day.ts';
import type { LedgerTick, NewTick } from './tick.ts';

const WEDNESDAY = day('2026-07-15');
const HOUR = 3_600_000;
const ALL: FoldLimits = { madeBy: Number.MAX_SAFE_INTEGER, receivedBy: Number.MAX_SAFE_INTEGER };

onEachEngine('the fold of a day', (engine) => {
  const ledgers = ledgersOf(engine);

  test.each<[string, FoldLimits]>([
    ['all ticks', ALL],
    ['those made by a moment', { ...ALL, madeBy: NOW - HOUR }],
    ['those received by a moment', { ...ALL, receivedBy: NOW - HOUR }],
    ['those made and received by a moment', { madeBy: NOW - 2 * HOUR, receivedBy: NOW - HOUR }],
    ['those received after a moment', { ...ALL, receivedAfter: NOW - HOUR }],
    ['those received in a span', { ...ALL, receivedAfter: NOW - 3 * HOUR, receivedBy: NOW - HOUR }],
    ['none', { madeBy: NOW - 24 * HOUR, receivedBy: NOW }],
  ])(
    'over several pages is the fold of its ticks, and reports every other tick once: %s',
    async (_, limits) => {
      await expectSameFold(await filled(spread), limits);
    },
  );

  test('includes every tick of a moment that has more of them than a page', async () => {
    const day = await filled(atOneMoment);
    await expectSameFold(day, ALL);
    await expectSameFold(day, { ...ALL, receivedBy: NOW + 4_500 });
    await expectSameFold(day, { ...ALL, receivedAfter: NOW + 4_500 });
  });

  test('leaves out the other origin, however many ticks that one has', async () => {
    const simulated = (symbolId: number) => spread(symbolId).map((tick) => ({ ...tick, id: `s${tick.id}` }));
    const { ledger, symbolId } = await filled(simulated, 'simulated');
    await ledger.ticks.append(spread(symbolId).slice(0, 10), 'exchange');
    for (const origin of ['real', 'simulated'] as const) {
      await expectSameFold({ ledger, symbolId }, { ...ALL, receivedBy: NOW - HOUR }, origin);
    }
  });

  test('of many symbols at the same time is the fold of each, however many ticks it has', async () => {
    for (const count of [1, 99, 100, 101, 250]) {
      await Promise.all(
        [0, 1, 2].map(async () => {
          const day = await filled((symbolId) => spread(symbolId).slice(0, count));
          for (const limits of [
            ALL,
            { ...ALL, receivedBy: NOW - HOUR },
            { ...ALL, receivedAfter: NOW - HOUR },
          ])
            await expectSameFold(day, limits);
        }),
      );
    }
  });

  async function filled(ticksOf: (symbolId: number) => NewTick[], source = 'exchange') {
    const ledger = await ledgers.shared();
    const { id: symbolId } = await newSymbol(ledger);
    await ledger.ticks.append(ticksOf(symbolId), source);
    return { ledger, symbolId };
  }
});

type Filled = { ledger: Awaited<ReturnType<ReturnType<typeof ledgersOf>['shared']>>; symbolId: number };

async function expectSameFold(
  { ledger, symbolId }: Filled,
  limits: FoldLimits,
  origin: 'real' | 'simulated' = 'real',
): Promise<void> {
  const ticks = await ledger.ticks.ofDay(symbolId, origin, WEDNESDAY);
  expect(ticks.length).toBeGreaterThan(0);
  const { receivedAfter = Number.MIN_SAFE_INTEGER, madeBy, receivedBy } = limits;
  let expected: Fold<LedgerTick> | undefined;
  const others: LedgerTick[] = [];
  for (const tick of ticks.filter(({ received }) => received > receivedAfter)) {
    if (tick.at <= madeBy && tick.received <= receivedBy) expected = foldTick(expected, tick);
    else others.push(tick);
  }
  for (const parallelReads of [1, 3]) {
    const reported: LedgerTick[] = [];
    const folder = new DayFolder({ ...ledger.engine, parallelReads });
    const fold = await folder.fold(
      { symbolId, origin, day: WEDNESDAY },
      { ...limits, onOther: (tick) => reported.push(tick) },
    );
    expect(fold && { open: fold.open, high: fold.high, low: fold.low, close: fold.close }).toEqual(expected);
    expect(reported.toSorted(byId)).toEqual(others.toSorted(byId));
    expect(reported.map(({ at }) => at)).toEqual(others.map(({ at }) => at).toSorted((a, b) => a - b));
  }
}

function byId(a: LedgerTick, b: LedgerTick): number {
  return a.id < b.id ? -1 : 1;
}

/** Nine thousand of six hours: many made at one moment, some received late. */
function spread(symbolId: number): NewTick[] {
  const chance = new Seeded(7);
  return Array.from({ length: 9_000 }, (_, i) => {
    const at = NOW - chance.below(6 * 60) * 60_000 - chance.below(3);
    const received = at + (chance.next() < 0.2 ? chance.below(2 * HOUR) : 40);
    return { symbolId, id: Bun.hash(`${i}`).toString(36), at, received, price: 100 + chance.below(400) / 4 };
  });
}

/** Nine thousand of one moment between two others. */
function atOneMoment(symbolId: number): NewTick[] {
  return Array.from({ length: 9_002 }, (_, i) => {
    const at = NOW + (i === 0 ? -5 : i === 9_001 ? 5 : 0);
    return { symbolId, id: `t${i}`, at, received: NOW + i, price: 100 + ((i * 7) % 9_002) };
  });
}
