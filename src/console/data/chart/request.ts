import { useMemo } from 'preact/hooks';
import type { MarketSymbol, PlanRecord } from '../../api/answers.ts';
import { today } from '../days.ts';
import { codesIn } from '../formula.ts';
import type { MarketStore } from '../market/store.ts';
import type { WantedHistory } from './history.ts';
import {
  type BarInterval,
  type DaySpan,
  firstDayOf,
  fromWholeInterval,
  intervalFor,
  intervalsFor,
  isShort,
  lastDayOf,
  type Range,
  shortIntervalFor,
  shortSpan,
  withLookback,
} from './span.ts';
import type { ChartView } from './view.ts';

/** What a chart shows, and what has to be loaded for it. */
export interface ChartRequest {
  range: Range;
  span: DaySpan;
  interval: IntervalChoice;
  wanted: WantedHistory;
  /** What is known to have no bars shorter than a day, if the range needs them. */
  withoutMinutes: 'plan' | 'symbol' | undefined;
}

export interface IntervalChoice {
  /** What the page chooses. */
  automatic: BarInterval;
  /** What the user has chosen, if it suits the range. */
  chosen: BarInterval | undefined;
  /** Empty if there is no choice. */
  options: readonly BarInterval[];
}

/** `symbols`: that of the page, then the compared ones. */
export function useChartRequest(
  symbols: readonly MarketSymbol[],
  view: ChartView,
  plan: PlanRecord,
  store: MarketStore,
): ChartRequest {
  const symbol = symbols[0]!;
  const isLong = plan.history;
  const range = view.range ?? (isLong ? '6M' : '1M');
  const shortRange = !view.dates && isShort(range) ? range : undefined;
  // Newer prices must not move it: every new span costs a unit.
  const newest = useMemo(() => newestOf(symbol, store), [symbol.symbol, range, today()]);
  const chosen = shortRange
    ? shortSpan(shortRange, newest)
    : (view.dates ?? { first: firstDayOf(range, symbol), last: lastDayOf(symbol) });
  const options = isLong ? intervalsFor(shortRange) : [];
  const interval = {
    automatic: shortRange
      ? shortIntervalFor(shortRange, symbols)
      : isLong
        ? intervalFor(chosen, symbols)
        : ('day' as const),
    chosen: options.find((one) => one === view.interval),
    options,
  };
  const used = interval.chosen ?? interval.automatic;
  const span = fromWholeInterval(chosen, used);
  const { unit, currency } = view;
  return {
    range,
    span,
    interval,
    wanted: {
      ...(isLong ? withLookback(span, used, symbols, view.averages) : span),
      symbols,
      interval: used,
      unit,
      currency,
    },
    withoutMinutes: shortRange && obstacleOf(symbol, isLong),
  };
}

function obstacleOf({ updateInterval }: MarketSymbol, isLong: boolean): ChartRequest['withoutMinutes'] {
  if (!isLong) return 'plan';
  return updateInterval === 'month' || updateInterval === 'week' ? 'symbol' : undefined;
}

/** The time of the newest price, or its day if only that is known. A formula is as new as its oldest part. */
function newestOf({ symbol, formula, lastDate }: MarketSymbol, store: MarketStore): string {
  const times = codesIn(formula ?? symbol).map((code) => store.rows.get(code)?.quote.at);
  return times.filter((at) => at !== undefined).sort()[0] ?? lastDate ?? today();
}
