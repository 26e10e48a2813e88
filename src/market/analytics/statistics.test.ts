import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { closeSeries, correlation, statisticsOf } from './statistics.ts';

const CENTS = { decimals: 2, isConverted: false };

interface Price {
  day: number;
  close: number;
  cents: bigint;
}

const prices = (min: number) =>
  fc
    .array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min, max: 30_000 })), {
      minLength: 2,
      maxLength: 60,
    })
    .map((steps) => {
      let day = 19_000;
      return steps.map(([gap, cents]): Price => {
        day += gap;
        return { day, close: cents / 100, cents: BigInt(cents) };
      });
    });

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Whether value = sqrt(numerator / denominator), within half a unit of its eighth significant digit. */
function isRoot(value: number, numerator: bigint, denominator: bigint): boolean {
  if (numerator === 0n) return value === 0;
  const [mantissa = '', exponent = '0'] = value.toExponential(7).split('e');
  if (Number(`${mantissa}e${exponent}`) !== value) return false; // more than 8 digits
  const digits = 2n * BigInt(mantissa.replace('.', '')); // × 10^(exponent − 7) / 2
  const power = 2 * (Number(exponent) - 7);
  const [n, d] = [
    4n * numerator * 10n ** BigInt(Math.max(0, -power)),
    denominator * 10n ** BigInt(Math.max(0, power)),
  ];
  return (digits - 1n) ** 2n * d <= n && n <= (digits + 1n) ** 2n * d;
}

test('mean, median, standard deviation, extremes and drawdown equal exact rational arithmetic', () => {
  fc.assert(
    fc.property(prices(-2_000), (all) => {
      const found = statisticsOf(closeSeries(all), CENTS, 252);
      const cents = all.map((one) => one.cents);
      const count = BigInt(all.length);
      const sum = cents.reduce((total, one) => total + one, 0n);
      const rounded = (abs(sum) * 2n + count) / (2n * count);
      expect(found.mean).toBe(Number(sum < 0n ? -rounded : rounded) / 100 + 0);
      const sorted = cents.toSorted((a, b) => Number(a - b));
      const [low, high] = [sorted[(all.length - 1) >> 1]!, sorted[all.length >> 1]!];
      const middle = (abs(low + high) + 1n) / 2n;
      expect(found.median).toBe(Number(low + high < 0n ? -middle : middle) / 100 + 0);
      const squares = cents.reduce((total, one) => total + one * one, 0n);
      const variance = count * squares - sum * sum;
      expect(isRoot(found.standardDeviation!, variance, count * (count - 1n) * 10_000n)).toBe(true);
      expect(found.count).toBe(all.length);
      expect(found.last).toEqual({ value: all.at(-1)!.close, day: all.at(-1)!.day });
      for (const [extreme, value] of [
        [found.minimum, sorted[0]!],
        [found.maximum, sorted.at(-1)!],
      ] as const) {
        const first = all.find((one) => one.cents === value)!;
        expect(extreme).toEqual({ value: first.close, day: first.day });
      }
      expect(found.drawdown).toEqual(drawdown(all));
    }),
    { numRuns: 300 },
  );
});

test('a standard deviation is exact whatever the sizes of the closes', () => {
  const integers = fc.oneof(
    fc.integer({ min: -1_000, max: 1_000 }),
    fc.integer({ min: 2 ** 26 - 3, max: 2 ** 26 + 3 }),
    fc.integer({ min: -(10 ** 14), max: 10 ** 14 }),
  );
  fc.assert(
    fc.property(fc.array(integers, { minLength: 2 }), fc.integer({ min: 0, max: 12 }), (all, places) => {
      const closes = all.map((digits, day) => ({ day, close: Number(`${digits}e-${places}`) }));
      const { standardDeviation } = statisticsOf(closeSeries(closes), CENTS, 252);
      const count = BigInt(all.length);
      const sum = all.reduce((total, one) => total + BigInt(one), 0n);
      const squares = all.reduce((total, one) => total + BigInt(one) ** 2n, 0n);
      const denominator = count * (count - 1n) * 10n ** BigInt(2 * places);
      expect(isRoot(standardDeviation!, count * squares - sum * sum, denominator)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

/** Compares each close with the highest one before it. */
function drawdown(all: readonly Price[]) {
  let [n, d] = [0n, 1n];
  let days: (number | undefined)[] = [undefined, undefined];
  all.forEach((low, i) => {
    const earlier = all.slice(0, i + 1);
    const high = earlier.find(({ cents }) => earlier.every((one) => one.cents <= cents))!;
    const fall = high.cents - low.cents;
    if (high.cents <= 0n || fall * d <= n * high.cents) return;
    [n, d] = [fall, high.cents];
    days = [high.day, low.day];
  });
  const [peakDay, troughDay] = days;
  return { size: Number((n * 10n ** 8n * 2n + d) / (2n * d)) / 1e8, peakDay, troughDay };
}

/** ln × 10^40 of the quotient of consecutive closes. */
function returnsOf(all: readonly Price[]): bigint[] {
  return all.slice(1).map(({ cents }, i) => logOf(cents, all[i]!.cents));
}

/** ln(a / b) × 10^40, by the series of atanh with 20 more digits: independent of the code under test. */
function logOf(a: bigint, b: bigint): bigint {
  let [n, d, halvings] = [a, b, 0n];
  for (; 2n * n >= 3n * d; d *= 2n) halvings++;
  for (; 4n * n < 3n * d; n *= 2n) halvings--;
  return (2n * atanh(n - d, n + d) + 2n * halvings * atanh(1n, 3n)) / GUARD;
}

function atanh(n: bigint, d: bigint): bigint {
  const z = (n * UNIT * GUARD) / d;
  let sum = 0n;
  for (let power = z, k = 1n; power !== 0n; k += 2n) {
    sum += power / k;
    power = (power * n * n) / (d * d);
  }
  return sum;
}

const UNIT = 10n ** 40n;
const GUARD = 10n ** 20n;

test('volatility is the standard deviation of log returns by 40-digit arithmetic, times the root of 252', () => {
  fc.assert(
    fc.property(prices(1), (all) => {
      const returns = returnsOf(all);
      const { volatility } = statisticsOf(closeSeries(all), CENTS, 252);
      if (returns.length < 2) return expect(volatility).toBeUndefined();
      const count = BigInt(returns.length);
      const sum = returns.reduce((total, one) => total + one, 0n);
      const squares = returns.reduce((total, one) => total + one * one, 0n);
      const variance = Number((count * squares - sum * sum) / (count * (count - 1n)) / 10n ** 40n) / 1e40;
      expect(Math.abs(volatility! - Math.sqrt(variance * 252))).toBeLessThanOrEqual(6e-8 * volatility!);
    }),
    { numRuns: 200 },
  );
});

test('correlation is that of 40-digit arithmetic, symmetric, and 1 with itself', () => {
  fc.assert(
    fc.property(prices(1), prices(1), (a, b) => {
      const days = new Set(b.map(({ day }) => day));
      const own = new Set(a.map(({ day }) => day));
      const [x, y] = [a.filter(({ day }) => days.has(day)), b.filter(({ day }) => own.has(day))].map(
        returnsOf,
      );
      const [seriesA, seriesB] = [closeSeries(a), closeSeries(b)];
      const found = correlation(seriesA, seriesB);
      expect(correlation(seriesB, seriesA)).toBe(found);
      const [xx, yy, xy] = [moment(x!, x!), moment(y!, y!), moment(x!, y!)];
      if (x!.length < 2 || xx === 0n || yy === 0n) return;
      const exact = Number(xy) / Math.sqrt(Number(xx)) / Math.sqrt(Number(yy));
      expect(Math.abs(found! - exact)).toBeLessThan(2e-8);
      if (returnsOf(a).some((one) => one !== returnsOf(a)[0])) expect(correlation(seriesA, seriesA)).toBe(1);
    }),
    { numRuns: 200 },
  );
});

/** n Σxy − Σx Σy, scaled down so that a float can hold it. */
function moment(x: readonly bigint[], y: readonly bigint[]): bigint {
  const sum = (values: readonly bigint[]) => values.reduce((total, one) => total + one, 0n);
  const products = sum(x.map((one, i) => one * y[i]!));
  return (BigInt(x.length) * products - sum(x) * sum(y)) / UNIT;
}

test('a close that is not positive has no return', () => {
  const of = (closes: number[]) => closeSeries(closes.map((close, i) => ({ day: 19_000 + i, close })));
  const { volatility, drawdown: fall } = statisticsOf(of([10, 20, -5, 10, 20]), CENTS, 252);
  expect(volatility).toBe(0); // two returns of ln 2
  expect(fall).toEqual({ size: 1.25, peakDay: 19_001, troughDay: 19_002 });
  expect(correlation(of([1, 2, 3]), of([5, 5, 5]))).toBeUndefined();
  expect(statisticsOf(of([7]), CENTS, 252)).toMatchObject({ mean: 7, median: 7, drawdown: { size: 0 } });
  expect(statisticsOf(of([7]), CENTS, 252).standardDeviation).toBeUndefined();
});

test('returns that differ only by rounding errors are constant', () => {
  const of = (closes: number[]) => closeSeries(closes.map((close, i) => ({ day: 19_000 + i, close })));
  const doubling = of([10, 20, 40, 80]);
  expect(statisticsOf(doubling, CENTS, 252).volatility).toBe(0);
  expect(correlation(doubling, of([5, 6, 5, 7]))).toBeUndefined();
});
