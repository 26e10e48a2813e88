import { exactSum } from '../analytics/mean.ts';
import type { Ohlc } from '../bar.ts';
import type { Day } from '../day.ts';
import { print } from '../decimal.ts';
import { startOf } from './interval.ts';

/** The prices of one symbol in a minute, or in several that belong together. */
export interface IntradayBar extends Ohlc {
  /** The start of its interval, in ms. */
  at: number;
  /** The trade date of its last tick. */
  day: Day;
  /** The source of its last tick. */
  sourceId: number;
  /** How many minutes with a price it has. */
  minutes: number;
  /** The sum of the closes of those minutes, exactly. */
  closeSum: number;
}

/** Folds bars, which must be in order of time, by intervals of `ms`. */
export function foldIntraday(bars: readonly IntradayBar[], ms: number): IntradayBar[] {
  const folded: IntradayBar[] = [];
  let group: IntradayBar[] = [];
  for (const bar of bars) {
    if (group.length > 0 && startOf(group[0]!.at, ms) !== startOf(bar.at, ms)) {
      folded.push(foldGroup(group, ms));
      group = [];
    }
    group.push(bar);
  }
  if (group.length > 0) folded.push(foldGroup(group, ms));
  return folded;
}

function foldGroup(bars: readonly IntradayBar[], ms: number): IntradayBar {
  const [first] = bars;
  const last = bars.at(-1)!;
  return {
    at: startOf(first!.at, ms),
    day: last.day,
    open: first!.open,
    high: Math.max(...bars.map(({ high }) => high)),
    low: Math.min(...bars.map(({ low }) => low)),
    close: last.close,
    sourceId: last.sourceId,
    minutes: bars.reduce((sum, { minutes }) => sum + minutes, 0),
    closeSum: bars.length === 1 ? first!.closeSum : sumOf(bars.map(({ closeSum }) => closeSum)),
  };
}

function sumOf(values: readonly number[]): number {
  const { sum, scale } = exactSum(values);
  return Number(print({ digits: sum, scale }));
}
