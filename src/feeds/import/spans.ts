import type { NewBar } from '../../ledger/prices/bars.ts';
import type { Day } from '../../market/day.ts';

/** The days of a symbol in a file, and its newest price: they show how dates and numbers were read. */
export interface SymbolSpan {
  symbol: string;
  firstDay: Day;
  lastDay: Day;
  /** The closing price of the last day. */
  close: number;
}

/** Extends the spans, which are by the id of the symbol, with bars in any order. */
export function addToSpans(
  spans: Map<number, SymbolSpan>,
  bars: readonly NewBar[],
  codes: ReadonlyMap<number, string>,
): void {
  for (const { symbolId, day, close } of bars) {
    const span = spans.getOrInsertComputed(symbolId, () => ({
      symbol: codes.get(symbolId)!,
      firstDay: day,
      lastDay: day,
      close,
    }));
    if (day < span.firstDay) span.firstDay = day;
    if (day > span.lastDay) Object.assign(span, { lastDay: day, close });
  }
}
