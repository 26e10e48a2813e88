import { expect, test } from 'bun:test';
import { stubProvider } from '../../../test/support/feeds/stub-provider.ts';
import { day, flat, ledgersOf } from '../../../test/support/ledgers.ts';
import type { Observation } from '../provider.ts';
import { mapObservations } from './map-observations.ts';

const ledgers = ledgersOf('sqlite');
const TODAY = day('2026-07-15');

async function map(...observations: Observation[]) {
  const symbols = await (await ledgers.shared()).symbols.list();
  return mapObservations(stubProvider('https://stub.example'), observations, symbols, TODAY + 2);
}

const gold = (on: number, price: number): Observation => ({ series: 'GOLD', day: on, ...flat(price) });

test('bars are sorted by symbol and day, whatever the input order', async () => {
  const silver = { ...gold(TODAY, 50), series: 'SILVER' };
  const { bars, refused, doubts } = await map(gold(TODAY, 3), silver, gold(TODAY - 2, 1), gold(TODAY - 1, 2));
  expect(bars.map((bar) => bar.close)).toEqual([1, 2, 3, 50]);
  expect([refused, doubts.size]).toEqual([[], 0]);
});

test('a repeated day with the same prices counts once', async () => {
  const { bars, refused, doubts } = await map(gold(TODAY, 3), gold(TODAY, 3));
  expect(bars).toHaveLength(1);
  expect(refused).toEqual([{ where: 'GOLD 2026-07-15', reason: 'the day appears twice' }]);
  expect(doubts.size).toBe(0);
});

test('a repeated day with other prices makes its series suspect', async () => {
  const { doubts } = await map(gold(TODAY, 3), gold(TODAY, 4), { ...gold(TODAY, 50), series: 'SILVER' });
  expect([...doubts.values()]).toEqual(['2026-07-15 appears twice with different prices']);
});

test('two days ahead is today somewhere; three is the future', async () => {
  expect((await map(gold(TODAY + 2, 1))).doubts.size).toBe(0);
  expect([...(await map(gold(TODAY + 3, 1))).doubts.values()]).toEqual(['2026-07-18 is in the future']);
});

test.each([
  ['no number', TODAY, Number.NaN],
  ['too large', TODAY, Number.POSITIVE_INFINITY],
  ['half a day', TODAY + 0.5, 1],
  ['no day', Number.NaN, 1],
  ['a day before the year 1000', -400_000, 1],
  ['a day after all days', 1e9, 1],
])('%s is refused', async (_, on, price) => {
  const { bars, refused } = await map(gold(TODAY, 2), gold(on, price));
  expect(bars).toHaveLength(1);
  expect(refused).toEqual([{ where: 'GOLD', reason: 'not a day with a price' }]);
});

test('inconsistent prices are kept as they are', async () => {
  const odd = { series: 'GOLD', day: TODAY, open: 5, high: 4, low: 6, close: -5 };
  expect((await map(odd)).bars).toMatchObject([{ open: 5, high: 4, low: 6, close: -5 }]);
});
