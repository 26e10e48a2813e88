import { expect, test } from 'bun:test';
import { notFlat, type Sample } from './soak.ts';

const samplesOf = (heapMb: (i: number) => number, fds = (_: number) => 30): Sample[] =>
  Array.from({ length: 120 }, (_, i) => ({
    at: i * 5,
    heapMb: heapMb(i),
    rssMb: 200,
    fds: fds(i),
    lagMs: 1,
    perSecond: 100,
  }));

test('a sawtooth with constant minima is flat, whatever came before', () => {
  expect(notFlat(samplesOf((i) => 50 + (i % 7) * 8))).toEqual([]);
  expect(notFlat(samplesOf((i) => (i < 40 ? i : 50 + (i % 7) * 8)))).toEqual([]);
});

test('rising minima are a leak, also in a sawtooth, and so are descriptors that are never closed', () => {
  expect(notFlat(samplesOf((i) => 50 + (i % 7) * 8 + i / 4)).join()).toContain('heap grows');
  expect(
    notFlat(
      samplesOf(
        () => 50,
        (i) => 30 + i / 10,
      ),
    ).join(),
  ).toContain('file descriptors grow');
});
