import type { Bar } from '../../market/bar.ts';
import { seedOf, uniform } from './noise.ts';
import { toPrice, type Walk } from './walk.ts';

/** About one price in this many is first published with an error, and corrected with the next price. */
const PRICES_PER_CORRECTION = 400;
/** The largest error, relative to the price. */
const ERROR_MAX = 0.01;

/** The reason of a simulated correction. */
export const CORRECTION = 'simulated correction';

const seeds = new Map<string, number>();

/** The bar with an error, as it is published first; undefined if it is published correctly at once. */
export function firstEdition({ code, decimals }: Walk, bar: Bar): Bar | undefined {
  const seed = seeds.getOrInsertComputed(code, () => seedOf(`${code} revised`));
  if (uniform(seed, bar.day) * PRICES_PER_CORRECTION >= 1) return undefined;
  const isFlat = bar.high === bar.low;
  const error = 1 + (uniform(seed, -bar.day) * 2 - 1) * ERROR_MAX;
  const close = toPrice(bar.close * error, 10 ** decimals);
  if (close === bar.close) return undefined;
  if (isFlat) return { day: bar.day, open: close, high: close, low: close, close };
  return { ...bar, close, high: Math.max(bar.high, close), low: Math.min(bar.low, close) };
}
