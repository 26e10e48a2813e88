import { expect, test } from 'bun:test';
import { dayOf, parseDay, printDay } from '../../market/day.ts';
import { isLastOfWeek, isTradingDay, tradingDays } from './calendar.ts';

test.each([
  ['2024-01-01', 'New Year'],
  ['2016-03-25', 'Good Friday'],
  ['2019-04-19', 'Good Friday'],
  ['2024-03-29', 'Good Friday'],
  ['2026-04-03', 'Good Friday'],
  ['2038-04-23', 'Good Friday, as late as it can be'],
  ['2025-12-25', 'Christmas'],
  ['2026-11-14', 'a Saturday'],
  ['2026-11-15', 'a Sunday'],
])('nobody trades on %s (%s)', (text) => {
  expect(isTradingDay(parseDay(text)!)).toBe(false);
});

test('every other weekday is a trading day', () => {
  const days = tradingDays(parseDay('2026-03-30')!, parseDay('2026-04-07')!).map(printDay);
  expect(days).toEqual(['2026-03-30', '2026-03-31', '2026-04-01', '2026-04-02', '2026-04-06', '2026-04-07']);
  expect(tradingDays(parseDay('2025-01-01')!, parseDay('2025-12-31')!)).toHaveLength(261 - 3);
});

test('the last trading day of a week is Friday, or Thursday before Good Friday', () => {
  const lastDays = tradingDays(dayOf(2024, 3, 18)!, dayOf(2024, 4, 7)!).filter(isLastOfWeek);
  expect(lastDays.map(printDay)).toEqual(['2024-03-22', '2024-03-28', '2024-04-05']);
});
