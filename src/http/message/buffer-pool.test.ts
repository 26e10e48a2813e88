import { describe, expect, test } from 'bun:test';
import { borrow, giveBack } from './buffer-pool.ts';

const MEGABYTE = 1024 * 1024;

describe('memory that is given back', () => {
  test('serves the next who needs as much, one at a time', () => {
    const [one, two] = [borrow(4_321), borrow(4_321)];
    expect(one.buffer).not.toBe(two.buffer);
    giveBack(one);
    giveBack(two);
    const again = [borrow(4_321), borrow(4_321), borrow(4_321)];
    expect(new Set(again.map(({ buffer }) => buffer)).size).toBe(3);
    expect(again.map(({ buffer }) => buffer)).toContain(one.buffer);
    expect(again.map(({ buffer }) => buffer)).toContain(two.buffer);
    for (const { length } of again) expect(length).toBe(4_321);
  });

  test('is kept up to four megabytes', () => {
    const all = Array.from({ length: 9 }, () => borrow(MEGABYTE));
    for (const memory of all) giveBack(memory);
    const before = new Set(all.map(({ buffer }) => buffer));
    const again = Array.from({ length: 9 }, () => borrow(MEGABYTE));
    const kept = again.filter(({ buffer }) => before.has(buffer)).length;
    expect(kept).toBeGreaterThanOrEqual(1);
    expect(kept).toBeLessThanOrEqual(4);
  });

  test('is not kept when it is longer than that', () => {
    const [short, long] = [borrow(77), borrow(5 * MEGABYTE)];
    giveBack(short);
    giveBack(long);
    expect(borrow(5 * MEGABYTE).buffer).not.toBe(long.buffer);
    expect(borrow(77).buffer).toBe(short.buffer); // and pushes nothing else out
  });
});
