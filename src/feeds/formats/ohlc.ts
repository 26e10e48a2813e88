import type { Ohlc } from '../../market/bar.ts';
import { printNumber } from '../../market/decimal.ts';

/** Describes a bar whose open or close lies outside of its low and high; undefined if it is consistent. */
export function inconsistency({ open, high, low, close }: Ohlc): string | undefined {
  if (low <= Math.min(open, close, high) && high >= Math.max(open, close)) return undefined;
  return `open ${open}, high ${high}, low ${low}, close ${close} do not fit together`;
}

/** Prints one price if all four are equal, otherwise `open/high/low/close`. */
export function printOhlc({ open, high, low, close }: Ohlc): string {
  const prices = [open, high, low, close].map(printNumber);
  return new Set(prices).size === 1 ? prices[0]! : prices.join('/');
}
