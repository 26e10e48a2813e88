import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { newFolder } from '../../../test/support/ledger.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { systemClock } from '../../runtime/clock.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { NO_PLACE } from '../report-rounds.ts';
import { type CountedKey, KeyUses } from './key-uses.ts';

const ENDPOINTS = ['latest', 'historical', 'symbols'] as const;
const DAYS = [20_000, 20_001];

let ledger: Ledger;
beforeAll(async () => {
  ledger = await Ledger.open(join(newFolder(), 'openpit.db'), systemClock, 'serving');
});
afterAll(() => ledger.close());

test('the ledger gets every use of each key once, by endpoint and day, in whatever order they are counted and written', async () => {
  const use = fc.record({
    kind: fc.constant('use' as const),
    key: fc.nat(2),
    endpoint: fc.constantFrom(...ENDPOINTS),
    day: fc.constantFrom(...DAYS),
    units: fc.integer({ min: 1, max: 100 }),
  });
  const step = fc.oneof({ weight: 9, arbitrary: use }, fc.constant({ kind: 'flush' as const }));
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const accountId = `acc_${run++}`;
      const keyUses = new KeyUses(ledger.keyUses);
      const keys = [0, 1, 2].map((n) => newKey(accountId, `key_${n}`));
      const expected = new Map<string, { count: number; lastAt: number }>();
      for (const [i, one] of steps.entries()) {
        if (one.kind === 'flush') {
          await keyUses.flush();
          continue;
        }
        const now = one.day * DAY_MS + i;
        keyUses.count(keys[one.key]!, one.endpoint, one.units, now);
        const sum = expected.getOrInsertComputed(`key_${one.key} ${one.day} ${one.endpoint}`, () => ({
          count: 0,
          lastAt: 0,
        }));
        sum.count += one.units;
        sum.lastAt = now;
      }
      await keyUses.flush();
      const written = await ledger.keyUses.of(accountId, DAYS[0]!);
      expect(
        new Map(
          written.map(({ keyId, day, endpoint, count, lastAt }) => [
            `${keyId} ${day} ${endpoint}`,
            { count, lastAt },
          ]),
        ),
      ).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

function newKey(accountId: string, id: string): CountedKey {
  return {
    id,
    accountId,
    usedFor: undefined,
    usedUnits: 0,
    usedAt: 0,
    olderUses: undefined,
    reportPlace: NO_PLACE,
  };
}
