import { difference, percentChange } from './decimal.ts';

/** The change between two rates, as exact decimal text. */
export interface Fluctuation {
  change: string;
  changePercent: string;
}

export function fluctuation(startRate: number, endRate: number): Fluctuation {
  return {
    change: difference(endRate, startRate),
    changePercent: percentChange(startRate, endRate, 4),
  };
}
