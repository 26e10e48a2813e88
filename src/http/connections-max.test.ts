import { expect, test } from 'bun:test';
import { connectionsMax } from './connections-max.ts';

test('clients never have all descriptors of the process', () => {
  const limits = (soft: string) =>
    `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${soft}   20000   files\n`;
  expect(connectionsMax(limits('20000'))).toBe(19_800);
  expect(connectionsMax(limits('1024'))).toBe(824);
  expect(connectionsMax(limits('100'))).toBe(50);
  expect(connectionsMax(limits('unlimited'))).toBe(3_800);
  expect(connectionsMax('')).toBe(3_800);
  expect(connectionsMax()).toBeGreaterThan(0);
});
