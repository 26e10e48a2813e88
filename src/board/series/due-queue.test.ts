import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { DueQueue } from './due-queue.ts';

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ add: fc.nat(50), count: fc.constantFrom(1, 1, 300) }) },
  { weight: 1, arbitrary: fc.record({ takeBy: fc.nat(60), count: fc.constantFrom(1, 3, 1_000) }) },
);

test('every item is taken once, in order of time, then of insertion', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const queue = new DueQueue<{ time: number; number: number }>(({ time }) => time);
      let waiting: { time: number; number: number }[] = [];
      let number = 0;
      for (const one of steps) {
        if ('add' in one) {
          for (let i = 0; i < one.count; i++) {
            const item = { time: one.add + Math.floor(i / 10), number: ++number };
            queue.add(item);
            waiting.push(item);
          }
          waiting.sort((a, b) => a.time - b.time || a.number - b.number);
          continue;
        }
        const due = waiting.filter(({ time }) => time <= one.takeBy).slice(0, one.count);
        const taken = Array.from({ length: one.count }, () => queue.take(one.takeBy));
        expect(taken.filter((item) => item !== undefined)).toEqual(due);
        waiting = waiting.slice(due.length);
        expect(queue.dueAt).toBe(waiting[0]?.time ?? Number.POSITIVE_INFINITY);
      }
    }),
  );
});

test('adding out of order does not visit the items in the queue', () => {
  let looks = 0;
  const queue = new DueQueue<{ time: number }>(({ time }) => {
    looks++;
    return time;
  });
  for (let time = 20_000; time > 0; time--) queue.add({ time });
  expect(looks).toBe(20_000);
  expect(Array.from({ length: 20_000 }, () => queue.take(20_000)!.time)).toEqual(
    Array.from({ length: 20_000 }, (_, i) => i + 1),
  );
});
