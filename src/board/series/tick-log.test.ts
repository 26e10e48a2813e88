import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { LedgerTick } from '../../ledger/ticks/tick.ts';
import { tickSeenFrom } from '../../market/visibility.ts';
import { TickLog } from './tick-log.ts';

const tick = fc.record({
  symbolId: fc.constant(7),
  at: fc.nat(2_000),
  received: fc.nat(2_000),
  price: fc.double({ noNaN: true }),
  day: fc.integer({ min: -20_000, max: 60_000 }),
  sourceId: fc.nat(100),
  revision: fc.nat(Number.MAX_SAFE_INTEGER),
  id: fc.string({ unit: 'binary', maxLength: 20 }),
});

test('returns every tick by its number until the tick is discarded', () => {
  fc.assert(
    fc.property(
      fc.array(tick, { minLength: 1, maxLength: 60 }),
      fc.nat(900),
      fc.nat(900),
      (some, count, gone) => {
        const log = new TickLog(7);
        const taken: LedgerTick[] = [];
        for (let i = 0; i < count; i++) {
          const later = Math.floor(i / some.length) * 2_000;
          const one = some[i % some.length]!;
          const next = { ...one, at: one.at + later, received: one.received + later, id: `${one.id}${i}` };
          const last = taken.at(-1);
          const isLate = last !== undefined && tickSeenFrom(next) < tickSeenFrom(last);
          expect(log.add(next)).toBe(!isLate);
          if (!isLate) taken.push(next);
        }
        expect(log.end).toBe(taken.length);
        expect(log.seenFrom(log.end)).toBe(Number.POSITIVE_INFINITY);
        const first = Math.min(gone, taken.length);
        log.discardBefore(Math.floor(first / 3));
        log.discardBefore(first);
        for (let number = first; number < taken.length; number++) {
          expect(log.tick(number)).toEqual(taken[number]!);
          expect(log.seenFrom(number)).toBe(tickSeenFrom(taken[number]!));
        }
      },
    ),
    { numRuns: 60 },
  );
});
