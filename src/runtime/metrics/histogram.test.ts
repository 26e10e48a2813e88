import { expect, test } from 'bun:test';
import { Histogram } from './histogram.ts';

test('a duration counts in every bucket that is as long or longer, up to 60 s', () => {
  const histogram = new Histogram();
  for (const ms of [0.05, 19_400, 59_000, 61_000]) histogram.add(ms);
  const lines = histogram.lines('seconds', 'a="b"');
  expect(lines).toContain('seconds_bucket{a="b",le="0.0001"} 1');
  expect(lines).toContain('seconds_bucket{a="b",le="10"} 1');
  expect(lines).toContain('seconds_bucket{a="b",le="20"} 2');
  expect(lines).toContain('seconds_bucket{a="b",le="60"} 3');
  expect(lines).toContain('seconds_bucket{a="b",le="+Inf"} 4');
  expect(lines).toContain('seconds_count{a="b"} 4');
});

test('without labels the braces hold only the bound', () => {
  const lines = new Histogram().lines('seconds', '');
  expect(lines[0]).toBe('seconds_bucket{le="0.0001"} 0');
  expect(lines.slice(-2)).toEqual(['seconds_sum 0', 'seconds_count 0']);
});
