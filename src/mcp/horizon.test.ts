import { expect, test } from 'bun:test';
import { RequestRefused } from '../client/ask.ts';
import { horizonOf } from './horizon.ts';

const NOW = Date.UTC(2026, 10, 19, 12);
const HOUR_MS = 3_600_000;

const hoursBefore = async (answer: () => unknown) => {
  const ask = async <T>() => answer() as T;
  return (NOW - (await horizonOf(ask, () => NOW)())) / HOUR_MS;
};
const failed = (error: Error) => () => {
  throw error;
};

test('what a plan shows is complete up to its delay, or an hour for late prices', async () => {
  expect(await hoursBefore(() => ({ delaySeconds: 0 }))).toBe(1);
  expect(await hoursBefore(() => ({ delaySeconds: 7_200 }))).toBe(2);
  expect(await hoursBefore(failed(new RequestRefused('There is nothing here.', 404, 'not_found')))).toBe(1);
});

test('a delay that could not be read may be a day, whatever the reason', async () => {
  expect(await hoursBefore(failed(new RequestRefused('Too many.', 429, 'rate_limited')))).toBe(24);
  expect(await hoursBefore(failed(new Error('http://localhost cannot be reached')))).toBe(24);
});
