import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Push, PushOutcome } from '../../ledger/prices/pushes.ts';
import { packOutcomes, packPush, unpackOutcomes, unpackPush } from './packed-push.ts';

const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const whole = fc.integer({ min: -(2 ** 52), max: 2 ** 52 });
const ticks = fc.record({
  kind: fc.constant('ticks' as const),
  source: fc.string(),
  ticks: fc.array(
    fc.record({
      symbolId: fc.nat(),
      at: whole,
      received: whole,
      price: number,
      id: fc.string({ unit: 'binary' }),
    }),
  ),
});
const bars = fc.record({
  kind: fc.constant('bars' as const),
  source: fc.string(),
  received: whole,
  accept: fc.boolean(),
  bars: fc.array(
    fc.record({
      symbolId: fc.nat(),
      day: fc.integer(),
      open: number,
      high: number,
      low: number,
      close: number,
    }),
  ),
});

test('a push is unchanged after packing and unpacking', () => {
  fc.assert(
    fc.property(fc.oneof<fc.Arbitrary<Push>[]>(ticks, bars), (push) => {
      expect(unpackPush(structuredClone(packPush(push)))).toEqual(push);
    }),
  );
});

test('outcomes are unchanged after packing and unpacking', () => {
  const outcomes: PushOutcome[] = [
    { status: 'accepted' },
    { status: 'refused', reason: 'it is "not" a number\n' },
    { status: 'duplicate' },
  ];
  expect(unpackOutcomes(packOutcomes(outcomes))).toEqual(outcomes);
});
