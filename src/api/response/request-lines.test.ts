import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { allocate } from '../../http/message/buffer-pool.ts';
import { requestIdText } from '../telemetry/request-id.ts';
import { prependRequestLines, type RateLimit, rateLimitText, requestLinesMax } from './request-lines.ts';

const count = fc.oneof(fc.nat(), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }));
const rateLimit: fc.Arbitrary<RateLimit> = fc.record({
  policy: fc.constantFrom('month', 'address'),
  remaining: count,
  resetSeconds: count,
});

test('the lines of a request end where the next ones start, and say what is left in all digits', () => {
  fc.assert(
    fc.property(fc.oneof(fc.nat(), fc.uuid()), fc.option(rateLimit), (id, left) => {
      const end = requestLinesMax(id);
      const memory = allocate(end);
      const start = prependRequestLines(memory, end, id, left ?? undefined);
      expect(memory.toString('latin1', start, end)).toBe(
        `X-Request-Id: ${requestIdText(id)}\r\n${left ? `RateLimit: ${rateLimitText(left)}\r\n` : ''}`,
      );
    }),
  );
});
