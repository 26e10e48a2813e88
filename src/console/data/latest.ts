import { useMemo } from 'preact/hooks';
import type { ChartBar, MarketSymbol, Rate } from '../api/answers.ts';
import type { History } from './history.ts';
import type { MarketRow } from './market.ts';

/** The newest price of a symbol, with its unit. */
export function useRate(
  { symbol, unit, currency }: MarketSymbol,
  row: MarketRow | undefined,
): Rate | undefined {
  const quote = row?.quote;
  return useMemo(() => {
    if (!quote) return undefined;
    const { rate, date, at, source } = quote;
    return { symbol, rate, date, at, source, unit: unit.symbol, quote: currency.code };
  }, [quote, symbol]);
}

/** The bars with the newest price, in the same unit, in the last of them. */
export function useLiveBars(
  history: History | undefined,
  partial: ChartBar[] | undefined,
  latest: Rate | undefined,
): ChartBar[] {
  return useMemo(() => {
    const bars = history?.bars ?? partial ?? [];
    const last = bars.at(-1);
    if (!last || !latest || history?.interval !== 'day' || latest.unit !== history.unit) return bars;
    const { rate, date } = latest;
    if (date < last.date) return bars;
    if (date > last.date) return [...bars, { date, open: rate, high: rate, low: rate, close: rate }];
    const live = { ...last, high: Math.max(last.high, rate), low: Math.min(last.low, rate), close: rate };
    return [...bars.slice(0, -1), live];
  }, [history, partial, latest]);
}
