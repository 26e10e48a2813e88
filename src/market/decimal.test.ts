import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { difference, parseNumber, percentChange, printNumber, product, roundPrice } from './decimal.ts';

/** What every printed number looks like: no exponent, no "-0", no zero too many at either end. */
const PLAIN = /^(0|-?(?!0$)(0|[1-9]\d*)(\.\d*[1-9])?)$/;

describe('printNumber', () => {
  test.each([
    [0, '0'],
    [-0, '0'],
    [-36.98, '-36.98'],
    [0.1 + 0.2, '0.30000000000000004'],
    [1e21, '1000000000000000000000'],
    [-1.5e-7, '-0.00000015'],
    [1e-7, '0.0000001'],
    [123456789012345, '123456789012345'],
    [1.2345e25, '12345000000000000000000000'],
    [-0.5, '-0.5'],
  ])('%p prints as %s', (value, text) => {
    expect(printNumber(value)).toBe(text);
  });

  test('parse after print is the identity, and the text is plain, for every finite number', () => {
    fc.assert(
      fc.property(anyFinite, (value) => {
        const text = printNumber(value);
        expect(text).toMatch(PLAIN);
        expect(parseNumber(text)).toBe(value + 0);
        expect(JSON.parse(text)).toBe(value + 0);
      }),
      { numRuns: 2_000 },
    );
  });

  test('a price of up to 15 significant digits comes out as it was published', () => {
    fc.assert(
      fc.property(published, ({ text }) => {
        expect(printNumber(parseNumber(text)!)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('roundPrice', () => {
  test('a price of up to 15 significant digits stays as it is', () => {
    fc.assert(
      fc.property(published, ({ text }) => {
        expect(roundPrice(Number(text))).toBe(Number(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    [0.1 + 0.2, 0.3],
    [100.12345678901235, 100.123456789012],
    [-1987.0999755859375, -1987.09997558594],
    [1.000000000000005, 1.00000000000001],
    [-1.000000000000005, -1.00000000000001],
    [123_456_789_012_345_680, 123_456_789_012_346_000],
    [1.234567890123456e-9, 1.23456789012346e-9],
    [5e-324, 5e-324],
    [Number.MAX_VALUE, Number.POSITIVE_INFINITY],
  ])('%p is rounded to %p', (value, rounded) => {
    expect(roundPrice(value)).toBe(rounded);
  });
});

describe('parseNumber', () => {
  test.each([
    ['1', 1],
    ['+1.50', 1.5],
    ['-36.98', -36.98],
    ['.5', 0.5],
    ['5.', 5],
    ['1e3', 1000],
    ['1E-2', 0.01],
    ['007', 7],
  ])('%j is %p', (text, value) => {
    expect(parseNumber(text)).toBe(value);
  });

  test('minus zero is zero', () => {
    expect(parseNumber('-0')).toBe(0);
    expect(parseNumber('-0.00')).toBe(0);
    expect(parseNumber('0e-999')).toBe(0);
  });

  test.each([
    '',
    ' ',
    '.',
    '-',
    '1,5',
    '1 000',
    ' 1',
    '1\n',
    '0x10',
    '1e',
    '1e999',
    '-1e400',
    '1e-400',
    '-1e-999',
    'NaN',
    'Infinity',
    '--1',
    '1.2.3',
    '1_000',
    '١',
    'null',
  ])('%j is no number', (text) => {
    expect(parseNumber(text)).toBeUndefined();
  });
});

describe('difference', () => {
  test.each([
    [0.3, 0.1, '0.2'],
    [-36.98, 18.31, '-55.29'],
    [1.1, 1.1, '0'],
    [-1.1, -1.1, '0'],
    [0, -0, '0'],
    [1e21, 1, '999999999999999999999'],
    [100, 0.0000001, '99.9999999'],
    [-0.5, 0.25, '-0.75'],
    [1.2, 0.2, '1'],
  ])('%p minus %p is %s', (a, b, text) => {
    expect(difference(a, b)).toBe(text);
  });

  test('is the exact decimal difference of the published digits', () => {
    fc.assert(
      fc.property(published, published, (a, b) => {
        const text = difference(Number(a.text), Number(b.text));
        expect(text).toMatch(PLAIN);
        expect(scaled(text)).toBe(scaled(a.text) - scaled(b.text));
      }),
      { numRuns: 2_000 },
    );
  });

  test('is exact for the shortest print of any two finite numbers', () => {
    fc.assert(
      fc.property(anyFinite, anyFinite, (a, b) => {
        const text = difference(a, b);
        expect(text).toMatch(PLAIN);
        expect(scaled(text)).toBe(scaled(printNumber(a)) - scaled(printNumber(b)));
      }),
      { numRuns: 500 },
    );
  });
});

describe('percentChange', () => {
  test.each([
    [18.31, -36.98, '-301.9661'], // WTI, 2020-04-17 to 2020-04-20
    [-36.98, 18.31, '149.5133'], // up from a negative start is a rise
    [-36.98, -40, '-8.1666'],
    [0, 5, '0'],
    [-0, -5, '0'],
    [5, 0, '-100'],
    [5, 5, '0'],
    [3, 4, '33.3333'],
    [3, 5, '66.6667'],
    [1, 3, '200'],
    [2_000_000, 2_000_001, '0.0001'], // 0.00005: half goes away from zero
    [2_000_000, 1_999_999, '-0.0001'],
    [-2_000_000, -2_000_001, '-0.0001'],
    [2_000_001, 2_000_002, '0'], // just under the half
    [2_000_001, 2_000_000, '0'], // and never "-0"
    [1e-7, 1e21, '999999999999999999999999999900'],
  ])('from %p to %p is %s percent', (start, end, text) => {
    expect(percentChange(start, end, 4)).toBe(text);
  });

  test('is rounded once, half away from zero, whatever the signs', () => {
    fc.assert(
      fc.property(published, published, fc.integer({ min: 0, max: 6 }), (a, b, places) => {
        fc.pre(scaled(a.text) !== 0n);
        const text = percentChange(Number(a.text), Number(b.text), places);
        expect(text).toMatch(PLAIN);
        expect(text.split('.')[1]?.length ?? 0).toBeLessThanOrEqual(places);
        expect(scaled(text)).toBe(roundedPercent(scaled(a.text), scaled(b.text), places));
      }),
      { numRuns: 2_000 },
    );
  });

  test('an exact half is always rounded away from zero', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.boolean(), (n, negative) => {
        // From ±2,000,000, a step of 1 is 0.00005 percent: an odd step is a half at the fourth decimal.
        const step = 2 * n + 1;
        const start = negative ? -2_000_000 : 2_000_000;
        const away = BigInt(step > 0 ? n + 1 : n);
        expect(scaled(percentChange(start, start + step, 4))).toBe(away * 10n ** BigInt(DIGITS - 4));
      }),
    );
  });
});

/** Enough decimals for any finite number: the smallest is 5e-324, and the shortest print has 17 digits. */
const DIGITS = 350;

describe('product', () => {
  test.each([
    [0.1, 3, 0.3],
    [123.45, 0.01, 1.2345],
    [-36.98, 100, -3698],
    [1.1, 1.1, 1.21],
    [0, 0.45359237, 0],
    [999_999_999_999_999, 1.5, 1_500_000_000_000_000],
    [100_000_000_000_000, 1.000_000_000_000_05, 100_000_000_000_005],
    [1, 0.123456789012344_5, 0.123456789012345],
    [-1, 0.123456789012344_5, -0.123456789012345],
  ])('%p × %p is %p', (a, b, expected) => {
    expect(product(a, b)).toBe(expected);
  });

  test('times one keeps every price as it was published', () => {
    fc.assert(fc.property(published, ({ text }) => expect(product(Number(text), 1)).toBe(Number(text))));
  });

  test('it is the exact product, rounded at most once at the fifteenth digit', () => {
    const small = fc.integer({ min: -999_999, max: 999_999 });
    fc.assert(
      fc.property(small, small, fc.nat(4), fc.nat(4), (a, b, p, q) => {
        const made = product(a / 10 ** p, b / 10 ** q); // a quotient by a power of ten is the nearest float64
        expect(made).toBe(Number(`${a * b}e-${p + q}`) + 0);
      }),
    );
  });
});

/** The value of plain decimal text, times 10^350, as a whole number. */
function scaled(text: string): bigint {
  const negative = text.startsWith('-');
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const magnitude = BigInt(whole) * 10n ** BigInt(DIGITS) + BigInt(fraction.padEnd(DIGITS, '0'));
  return negative ? -magnitude : magnitude;
}

/** (end − start) / |start| × 100 to some places, times 10^350: by long division, then a look at what is left over. */
function roundedPercent(start: bigint, end: bigint, places: number): bigint {
  const base = start < 0n ? -start : start;
  const change = end - start;
  const parts = (change < 0n ? -change : change) * 100n * 10n ** BigInt(places);
  const whole = parts / base;
  const rest = parts - whole * base;
  const rounded = rest * 2n >= base ? whole + 1n : whole;
  return (change < 0n ? -rounded : rounded) * 10n ** BigInt(DIGITS - places);
}

const anyFinite = fc.double({ noNaN: true, noDefaultInfinity: true });

/** Decimal text of up to 15 significant digits, as a publisher would write it, without trailing zeros. */
const published = fc
  .record({
    digits: fc.oneof(
      fc.integer({ min: 0, max: 99_999 }).map(BigInt),
      fc.bigInt({ min: 0n, max: 999_999_999_999_999n }),
    ),
    scale: fc.integer({ min: 0, max: 12 }),
    negative: fc.boolean(),
  })
  .map(({ digits, scale, negative }) => {
    const padded = String(digits).padStart(scale + 1, '0');
    const cut = padded.length - scale;
    const plain = scale === 0 ? padded : `${padded.slice(0, cut)}.${padded.slice(cut)}`.replace(/\.?0+$/, '');
    return { text: negative && digits !== 0n ? `-${plain}` : plain };
  });
