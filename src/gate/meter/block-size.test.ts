import { expect, test } from 'bun:test';
import { lowWater, Traffic, unspentWanted } from './block-size.ts';

test('a block is five seconds of traffic', () => {
  expect(unspentWanted(0, 100)).toBe(500);
});

test('a lease that holds two to ten seconds of traffic is not changed', () => {
  expect(unspentWanted(200, 100)).toBe(200);
  expect(unspentWanted(1_000, 100)).toBe(1_000);
  expect(unspentWanted(199, 100)).toBe(500);
  expect(unspentWanted(1_001, 100)).toBe(500);
});

test('a quiet account holds a few units, so that its second request does not wait', () => {
  expect(unspentWanted(0, 0)).toBe(10);
});

test('the next block is requested while two fifths of this one are left', () => {
  expect(lowWater(500)).toBe(200);
  expect(lowWater(1)).toBe(0);
});

test('a rise in traffic is seen within its window, a fall after one', () => {
  const traffic = new Traffic(0);
  expect(traffic.perSecond(10, 1)).toBe(100); // 10 in 1 ms is not 10,000 a second
  expect(traffic.perSecond(50, 500)).toBe(100);
  expect(traffic.perSecond(200, 1_000)).toBe(200);
  expect(traffic.perSecond(200, 1_500)).toBe(200);
  expect(traffic.perSecond(210, 2_000)).toBe(200);
  expect(traffic.perSecond(210, 2_500)).toBe(10);
});
