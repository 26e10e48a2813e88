import { useRef } from 'preact/hooks';
import type { MarketSymbol, PlanRecord, Quote } from '../../api/answers.ts';
import type { Unit } from '../units.ts';
import { type Headline, headlineOf } from './headline.ts';
import type { History, WantedHistory } from './history.ts';
import { isIntraday } from './intraday.ts';
import { useHistory } from './use-history.ts';

/**
 * The headline of a symbol's page. One in another currency needs daily bars up to the newest quote: those of the chart, or, if
 * it shows minutes or a range in the past, those of the last two days, for a unit.
 */
export function useHeadline(
  key: string,
  plan: PlanRecord,
  symbol: MarketSymbol,
  quote: Quote | undefined,
  unit: Unit,
  wanted: WantedHistory,
  data: History | undefined,
): Headline | undefined {
  const { currency } = wanted;
  const known = useRef<History>(undefined);
  const isRecent = (history: History | undefined) =>
    quote !== undefined &&
    history?.series[0]?.symbol.symbol === symbol.symbol &&
    history.unit === wanted.unit &&
    history.currency === currency &&
    history.last >= quote.date &&
    (history.interval === 'day' || symbol.formula === undefined);
  if (data?.interval === 'day' && isRecent(data)) known.current = data;
  const isConverted = currency !== undefined && currency !== symbol.currency.code;
  const isInChart =
    quote !== undefined &&
    wanted.last >= quote.date &&
    (wanted.interval === 'day' || (!isIntraday(wanted.interval) && symbol.formula === undefined));
  const mustAsk = quote && isConverted && !isInChart && !isRecent(known.current);
  const { data: asked } = useHistory(
    key,
    plan,
    mustAsk
      ? {
          ...wanted,
          symbols: [symbol],
          interval: 'day',
          first: (quote.before ?? quote).date,
          last: quote.date,
        }
      : undefined,
  );
  const recent = [known.current, asked, data].find(isRecent);
  return quote && headlineOf(symbol, quote, recent, unit, currency);
}
