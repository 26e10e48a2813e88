import { expect, test } from 'bun:test';
import { progressText } from './progress.ts';

test('progress states rate and time left, as soon as they mean something', () => {
  expect(progressText(10, 5_000, 500)).toBe('10 of 5,000');
  expect(progressText(1_200, 5_000, 3_000)).toBe('1,200 of 5,000, 400/s, 10 s left');
  expect(progressText(1_000, 1_000_000, 1_000)).toBe('1,000 of 1,000,000, 1,000/s, 17 min left');
  expect(progressText(1, 10_000, 1_000)).toBe('1 of 10,000, 1/s, 2 h 47 min left');
  expect(progressText(5_000, 5_000, 3_000)).toBe('5,000 of 5,000, 1,667/s, 0 s left');
  expect(progressText(50, 100, 10_000, '5 of 10 MB')).toBe('5 of 10 MB, 10 s left');
});
