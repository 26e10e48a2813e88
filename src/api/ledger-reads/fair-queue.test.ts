import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { FairQueue } from './fair-queue.ts';

test('an account with one item waits for at most one item of each other account', () => {
  const queue = new FairQueue<string>();
  for (let i = 1; i <= 20; i++) queue.push('greedy', `greedy ${i}`);
  queue.push('modest', 'modest 1');
  expect([queue.shift(), queue.shift(), queue.shift()]).toEqual(['greedy 1', 'modest 1', 'greedy 2']);
});

test('every item comes out once, and those of one account in their order', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.constantFrom('a', 'b', 'c'))), (steps) => {
      const queue = new FairQueue<{ account: string; n: number }>();
      const out: { account: string; n: number }[] = [];
      let pushed = 0;
      for (const account of steps) {
        if (account !== null) queue.push(account, { account, n: pushed++ });
        else out.push(...[queue.shift()].filter((item) => item !== undefined));
      }
      for (let item = queue.shift(); item; item = queue.shift()) out.push(item);
      expect(out).toHaveLength(pushed);
      for (const lane of Map.groupBy(out, ({ account }) => account).values()) {
        expect(lane).toEqual(lane.toSorted((a, b) => a.n - b.n));
      }
    }),
  );
});
