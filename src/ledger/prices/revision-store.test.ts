import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readyLedgerUrl } from '../../../test/support/database/ready-ledger.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { systemClock } from '../../runtime/clock.ts';
import { Ledger } from '../ledger.ts';
import type { SymbolRevision } from './revision-store.ts';

const FIRST = 19_000;
const DAYS = 30;

const days = fc.uniqueArray(fc.nat(DAYS), { minLength: 1, maxLength: 12 });
const step = fc.record({
  symbol: fc.nat(1),
  days,
  price: fc.integer({ min: 1, max: 3 }),
  source: fc.constantFrom('a', 'b'),
  withdraws: fc.boolean(),
});

onEachEngine('the change log', (engine) => {
  let ledger: Ledger;
  let ids: number[];
  beforeAll(async () => {
    ledger = await Ledger.open(await readyLedgerUrl(engine), systemClock);
    ids = (await ledger.symbols.list()).map(({ id }) => id);
  });
  afterAll(() => ledger.close());

  test('leads to every day that has more than one revision, and to no other', async () => {
    let at = 0;
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 8 }),
      fc.nat(DAYS),
      fc.nat(DAYS),
      async (steps, from, length) => {
        const symbolIds = ids.splice(0, 2);
        ids.push(...symbolIds); // a few runs come back to them, and find more revisions
        for (const { symbol, days: own, price, source, withdraws } of steps) {
          const symbolId = symbolIds[symbol]!;
          const recordedAt = ++at;
          const touched = own.map((day) => ({ symbolId, day: FIRST + day }));
          if (withdraws) {
            await ledger.withdrawals.withdraw(touched, { by: 'operator', reason: 'wrong', recordedAt });
          } else {
            const ohlc = { open: price, high: price, low: price, close: price };
            await ledger.bars.publish(
              touched.map((one) => ({ ...one, ...ohlc })),
              { source, recordedAt },
            );
          }
        }
        const range = { first: FIRST + from, last: FIRST + from + length };
        const expected: SymbolRevision[] = [];
        for (const symbolId of symbolIds) {
          const all = await ledger.bars.revisions(symbolId, 'real', range.first, range.last);
          for (const own of Map.groupBy(all, ({ day }) => day).values()) {
            if (own.length < 2) continue;
            for (const { restores, ticksWithdrawnUntil, ...stored } of own)
              expected.push({ symbolId, ...stored });
          }
        }
        expected.sort((a, b) => a.day - b.day || a.symbolId - b.symbolId || a.revision - b.revision);
        expect(await ledger.revisions.revised({ origin: 'real', symbolIds }, range, 10_000)).toEqual(
          expected,
        );
        expect(await ledger.revisions.revised({ origin: 'real', symbolIds }, range, 3)).toEqual(
          expected.slice(0, 3),
        );
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  test('names the days that were written, not all that were offered', async () => {
    const symbolId = ids[0]!;
    const bars = [50, 60, 70].map((day) => ({ symbolId, day, open: 1, high: 1, low: 1, close: 1 }));
    await ledger.bars.publish(bars, { source: 'a', recordedAt: 1 });
    const corrected = bars.map((bar) => (bar.day === 60 ? { ...bar, high: 2 } : bar));
    let written = 0;
    const after = async (_: unknown, revision: number) => {
      written = revision;
    };
    await ledger.bars.publish(corrected, { source: 'a', recordedAt: 2, after });
    expect(await ledger.bars.changes(written - 1, written)).toEqual([
      { symbolId, firstDay: 60, lastDay: 60 },
    ]);
  });
});
