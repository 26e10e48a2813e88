import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ChartBar, LatestAnswer, MarketSymbol, Rate } from '../api/answers.ts';
import { ApiError, askWithKey } from '../api/client.ts';
import { listen } from '../api/events.ts';
import type { History } from './history.ts';

/** The newest price: asked for once, then listened to. */
export function useLatest(key: string, { symbol }: MarketSymbol) {
  const [rate, setRate] = useState<Rate>();
  const [stale, setStale] = useState(false);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    askWithKey<LatestAnswer>(key, `/rates/latest?symbols=${encodeURIComponent(symbol)}`).then(
      ({ metadata }) => setStale(metadata?.[symbol]?.stale ?? false),
      setError,
    );
    return listen(
      `/rates/stream?symbols=${encodeURIComponent(symbol)}`,
      { 'x-api-key': key },
      {
        onState: (state) =>
          setError(state === 'lost' ? new ApiError(0, 'offline', 'Trying again…') : undefined),
        onEnd: (status, message) => setError(new ApiError(status, 'ended', message)),
        onEvent: (event, data) => event === 'rate' && setRate(JSON.parse(data) as Rate),
      },
    );
  }, [key, symbol]);
  return { rate, stale, error };
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

/** The close of the day before the newest price, as published. Weeks do not tell it: what days said before stays. */
export function useCloseBefore(
  history: History | undefined,
  { unit }: MarketSymbol,
  latest: Rate | undefined,
): number | undefined {
  const days = useRef<readonly ChartBar[]>([]);
  if (history?.interval === 'day' && history.unit === unit.symbol) days.current = history.bars;
  return latest && days.current.findLast(({ date }) => date < latest.date)?.close;
}
