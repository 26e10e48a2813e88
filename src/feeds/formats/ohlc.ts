import type { Ohlc } from '../../market/bar.ts';
import { printNumber } from '../../market/decimal.ts';

/** Prints one price if all four are equal, otherwise `open/high/low/close`. */
export function printOhlc({ open, high, low, close }: Ohlc): string {
  const prices = [open, high, low, close].map(printNumber);
  return new Set(prices).size === 1 ? prices[0]! : prices.join('/');
}
