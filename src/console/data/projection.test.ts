import { expect, test } from 'bun:test';
import { projection } from './projection.ts';

const DAY = 86_400;
const now = Date.UTC(2026, 10, 16) / 1000;
const usage = { used: 1_000, resetAt: now + 14 * DAY };

test('the month comes to what is used and the pace of the last week for the days that are left', () => {
  const days = [
    { date: '2026-11-15', endpoint: 'latest', count: 50 },
    { date: '2026-11-10', endpoint: 'symbols', count: 20 },
    { date: '2026-11-01', endpoint: 'latest', count: 900 },
  ];
  expect(projection(usage, days, now)).toBe(1_000 + 10 * 14);
});

test('without recent usage the month comes to what is used', () => {
  expect(projection(usage, [], now)).toBe(1_000);
});
