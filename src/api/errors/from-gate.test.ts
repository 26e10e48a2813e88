import { expect, test } from 'bun:test';
import { VISITOR_UNITS_MAX } from '../../gate/visitors.ts';
import { visitorRefusal } from './from-gate.ts';

test('a visitor is told to wait for units, but not for more than any visitor ever has', () => {
  const later = visitorRefusal(5, VISITOR_UNITS_MAX);
  expect(later).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 5 });
  expect(later.message).toContain('Retry-After');
  const never = visitorRefusal(5, VISITOR_UNITS_MAX + 1);
  expect(never.retryAfterSeconds).toBeUndefined();
  expect(never.message).toEndWith('this response costs 121. Ask for less, or use a key of your own.');
});
