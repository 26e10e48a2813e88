import { expect, test } from 'bun:test';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { day, ledgersOf, NOW, newSymbol } from '../../../test/support/ledgers.ts';
import { Unavailable } from '../../ledger/engine/errors.ts';
import type { NewTick } from '../../ledger/ticks/tick.ts';
import { GroupCommit } from './group-commit.ts';

const TODAY = day('2026-07-15');
const NO_SYMBOL = 999_999;

onEachEngine('the group commit', (engine) => {
  const ledgers = ledgersOf(engine);

  async function start() {
    const [ledger, other] = await ledgers.pair();
    const { id: symbolId } = await newSymbol(ledger);
    const commit = new GroupCommit(async () => ledger);
    const tick = (id: string, more: Partial<NewTick> = {}): NewTick => {
      return { symbolId, id, at: NOW, received: NOW, price: 100, ...more };
    };
    const push = (ticks: NewTick[], source = 'desk') => commit.write({ source, ticks });
    const stored = () => other.ticks.ofDay(symbolId, 'real', TODAY);
    return { tick, push, stored };
  }

  test('writes pushes that arrive together in two transactions', async () => {
    const { tick, push, stored } = await start();
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, i) => push([tick(`${i}`)])));
    expect(outcomes.flat()).toEqual(Array(50).fill({ status: 'accepted' }));
    const revisions = new Set((await stored()).map(({ revision }) => revision));
    expect(revisions.size).toBe(2); // the first does not wait for the others
  });

  test('returns to each push the outcomes of its own ticks, also for several sources', async () => {
    const { tick, push, stored } = await start();
    await push([tick('known')]);
    const outcomes = await Promise.all([
      push([tick('first')]),
      push([tick('a'), tick('known'), tick('b', { price: 10_000 })]),
      push([tick('known'), tick('a')], 'other'),
      push([tick('a'), tick('c'), tick('a', { price: 101 })]),
    ]);
    expect(outcomes.map((some) => some.map(({ status }) => status))).toEqual([
      ['accepted'],
      ['accepted', 'duplicate', 'quarantined'],
      ['accepted', 'accepted'],
      ['duplicate', 'accepted', 'refused'],
    ]);
    expect(await stored()).toHaveLength(6);
  });

  test('reports a push after its commit: another process can read its ticks', async () => {
    const { tick, push, stored } = await start();
    const seen = Array.from({ length: 9 }, async (_, i) => {
      await push([tick(`${i}`)]);
      return (await stored()).some(({ id }) => id === `${i}`);
    });
    expect(await Promise.all(seen)).toEqual(Array(9).fill(true));
  });

  test('a push that cannot be written fails alone', async () => {
    const { tick, push, stored } = await start();
    const results = await Promise.allSettled([
      push([tick('1')]),
      push([tick('2')]),
      push([tick('3', { symbolId: NO_SYMBOL })]),
      push([tick('4')]),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect((await stored()).map(({ id }) => id).toSorted()).toEqual(['1', '2', '4']);
  });

  test('other pushes go between the transactions of a large one', async () => {
    const { tick, push, stored } = await start();
    const large = push(Array.from({ length: 4_500 }, (_, i) => tick(`large ${i}`)));
    const small = push([tick('small')]);
    expect(await small).toEqual([{ status: 'accepted' }]);
    expect((await stored()).length).toBeLessThan(4_000);
    expect(await large).toHaveLength(4_500);
    expect(await stored()).toHaveLength(4_501);
  });
});

test('an outage fails every waiting push once; the next one is tried again', async () => {
  let opened = 0;
  const commit = new GroupCommit(() => {
    opened++;
    return Promise.reject(new Unavailable('away'));
  });
  const push = () =>
    commit.write({ source: 'desk', ticks: [{ symbolId: 1, id: '1', at: 1, received: 1, price: 1 }] });
  const results = await Promise.allSettled([push(), push(), push()]);
  expect(results.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  expect(opened).toBe(2);
  expect(push()).rejects.toBeInstanceOf(Unavailable);
});
