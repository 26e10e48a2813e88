import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { knownCode, nearestCodes } from './similar-codes.ts';

const KNOWN = [
  'XAU',
  'XAG',
  'PL',
  'PA',
  'CO',
  'CORN',
  'COAL',
  'TIN',
  'WTIOIL-FUT',
  'WTIOIL-SPOT',
  'BRENTOIL-SPOT',
];

describe('nearestCodes', () => {
  test('the characters of known codes can be given with them, and rule out no code that is near', () => {
    const code = fc.string({ unit: fc.constantFrom(...'ABCXYZ019-.'), minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(code, fc.array(code, { maxLength: 30 }), (wrong, codes) => {
        const withCharacters = codes.map(knownCode);
        const everything = codes.map((one) => ({ code: one, characters: knownCode(wrong).characters }));
        expect(nearestCodes(wrong, withCharacters)).toEqual(nearestCodes(wrong, everything));
        expect(nearestCodes(wrong, codes)).toEqual(nearestCodes(wrong, everything));
      }),
    );
  });

  test.each([
    ['XAUU', ['XAU', 'XAG']],
    ['XUA', ['XAU']],
    ['CRON', ['CORN', 'CO']],
    ['CORNN', ['CORN']],
    ['WTIOIL', ['WTIOIL-FUT', 'WTIOIL-SPOT']],
    ['WTI', ['WTIOIL-FUT', 'WTIOIL-SPOT']],
    ['OIL', ['BRENTOIL-SPOT', 'WTIOIL-FUT', 'WTIOIL-SPOT']],
    ['BRENTOIL-SPOTT', ['BRENTOIL-SPOT']],
    ['TINN', ['TIN']],
  ])('for %s are %p', (wrong, nearest) => {
    expect(nearestCodes(wrong, KNOWN)).toEqual(nearest);
  });

  test.each(['', 'Q', 'QQ', 'QQQQ', 'SILVER', '☃', 'X'.repeat(8_000)])(
    'for %.10j there are none',
    (wrong) => {
      expect(nearestCodes(wrong, KNOWN)).toEqual([]);
    },
  );

  test('a code with one typo is found, in a catalogue of dissimilar codes', () => {
    const code = fc.constantFrom('WTIOIL-FUT', 'BANANA-EU', 'RUBBER', 'ETHANOL', 'XAU', 'TIN');
    fc.assert(
      fc.property(
        code,
        fc.nat(),
        fc.constantFrom(...'QJ9'),
        fc.constantFrom(...SLIPS),
        (right, at, letter, slip) => {
          const wrong = slip(right, at % right.length, letter);
          fc.pre(wrong !== right);
          expect(
            nearestCodes(wrong, ['WTIOIL-FUT', 'BANANA-EU', 'RUBBER', 'ETHANOL', 'XAU', 'TIN']),
          ).toContain(right);
        },
      ),
    );
  });

  test('are known codes, none twice, no more than asked for, in whatever order they are known', () => {
    const wrong = fc.stringMatching(/^[A-Z0-9-]{0,12}$/);
    const order = fc.shuffledSubarray(KNOWN, { minLength: KNOWN.length });
    fc.assert(
      fc.property(wrong, order, fc.integer({ min: 0, max: 5 }), (text, known, count) => {
        const nearest = nearestCodes(text, known, count);
        expect(nearest.length).toBeLessThanOrEqual(count);
        expect(new Set(nearest).size).toBe(nearest.length);
        expect(KNOWN).toEqual(expect.arrayContaining(nearest));
        expect(nearest).toEqual(nearestCodes(text, KNOWN, count));
      }),
    );
  });
});

/** The slips of a finger: a letter dropped, doubled, replaced, or swapped with the next. */
const SLIPS: readonly ((code: string, at: number, letter: string) => string)[] = [
  (code, at) => code.slice(0, at) + code.slice(at + 1),
  (code, at) => code.slice(0, at) + code.slice(at, at + 1) + code.slice(at),
  (code, at, letter) => code.slice(0, at) + letter + code.slice(at + 1),
  (code, at) => code.slice(0, at) + code.slice(at + 1, at + 2) + code.slice(at, at + 1) + code.slice(at + 2),
];
