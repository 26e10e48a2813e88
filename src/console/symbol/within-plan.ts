import type { MarketSymbol, PlanRecord } from '../api/answers.ts';
import { codesIn } from '../data/formula.ts';

/** The symbols of a chart that fit into one request of the plan. */
export interface ChartSymbols {
  /** That of the page, then the compared ones. */
  shown: readonly MarketSymbol[];
  leftOut: readonly MarketSymbol[];
  /** Whether the plan allows another one. */
  hasRoom: boolean;
}

/** Leaves out the compared symbols that do not fit. A formula counts as the symbols in it. */
export function withinPlan(symbols: readonly MarketSymbol[], { maxSymbols }: PlanRecord): ChartSymbols {
  let room = maxSymbols;
  const shown: MarketSymbol[] = [];
  const leftOut: MarketSymbol[] = [];
  for (const one of symbols) {
    const count = new Set(codesIn(one.formula ?? one.symbol)).size;
    const fits = shown.length === 0 || count <= room;
    if (fits) room -= count;
    (fits ? shown : leftOut).push(one);
  }
  return { shown, leftOut, hasRoom: room > 0 };
}
