import { difference, percentChange } from '../decimal.ts';
import { over, ratioOf, roundAt } from '../ratio.ts';
import { logOfQuotient } from './log.ts';

/** What a price can be turned into, compared with an earlier one. */
export const TRANSFORMS = ['change', 'percent', 'log', 'index'] as const;

export type Transform = (typeof TRANSFORMS)[number];

/** Decimals of a percentage and of an index, and of a logarithm. */
const PERCENT_PLACES = 4;
const LOG_PLACES = 10;

/**
 * A price compared with a base, as decimal text; undefined where it is not defined.
 *
 * - change: value − base, exactly
 * - percent: (value − base) / |base| × 100, to 4 decimals; a base of 0 has none
 * - log: ln(value / base), to 10 decimals; both must be positive
 * - index: value / base × 100, to 4 decimals; a base of 0 has none
 */
export function transformed(transform: Transform, base: number, value: number): string | undefined {
  switch (transform) {
    case 'change':
      return difference(value, base);
    case 'percent':
      return base === 0 ? undefined : percentChange(base, value, PERCENT_PLACES);
    case 'log':
      return base > 0 && value > 0 ? logOfQuotient(value, base, LOG_PLACES) : undefined;
    case 'index':
      return base === 0 ? undefined : indexOf(value, base);
  }
}

function indexOf(value: number, base: number): string {
  const { numerator, denominator } = over(ratioOf(value), ratioOf(base));
  return roundAt({ numerator: numerator * 100n, denominator }, PERCENT_PLACES);
}
