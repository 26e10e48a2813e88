import { expect, test } from 'bun:test';
import { DirtyAccounts } from './dirty-accounts.ts';

test('an account is reported before its count is older than the flush interval', () => {
  const dirty = new DirtyAccounts<string>(5_000);
  dirty.takeDue(0);
  dirty.add('ant');
  const reportedAt = [1_000, 2_000, 3_000, 4_000, 5_000].filter((mono) => dirty.takeDue(mono).length > 0);
  expect(reportedAt).toEqual([4_000]); // at 5,000 it could be 5 s old, and the next look is at 6,000
});

test('accounts of different seconds are reported in different seconds, each once', () => {
  const dirty = new DirtyAccounts<number>(60_000);
  const reported: number[][] = [];
  for (let second = 0; second < 130; second++) {
    reported.push(dirty.takeDue(second * 1_000));
    if (second < 60) dirty.add(second);
  }
  expect(reported.flat()).toEqual(Array.from({ length: 60 }, (_, i) => i));
  expect(Math.max(...reported.map(({ length }) => length))).toBe(1);
});

test('with looks as rare as the interval, everything is due at each of them', () => {
  const dirty = new DirtyAccounts<string>(1_000);
  dirty.takeDue(0);
  dirty.add('ant');
  expect(dirty.takeDue(1_000)).toEqual(['ant']);
});
