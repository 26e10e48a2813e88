import { describe, expect, test } from 'bun:test';
import { CODE_PATTERN } from './symbol.ts';

describe('what a code may look like', () => {
  test.each(['XAU', 'WTIOIL-FUT', 'RB1COAL', '1', 'A.B_C-D', 'A'.repeat(32)])('%s may be one', (code) => {
    expect(code).toMatch(CODE_PATTERN);
  });

  test.each(['', 'xau', '-XAU', 'X AU', 'XAU\n', 'XAU,XAG', 'ÄU', 'A'.repeat(33), '__proto__'])(
    '%j may not',
    (code) => {
      expect(code).not.toMatch(CODE_PATTERN);
    },
  );
});
