import type { Series } from '../../../board/series/series.ts';
import type { Prices } from '../../../board/views/prices.ts';
import type { DayRange } from '../../../ledger/prices/past.ts';
import { printDay } from '../../../market/day.ts';
import { INTRADAY_MS } from '../../../market/intraday/interval.ts';
import { marketOf, tradeDate } from '../../../market/session.ts';
import { rangeWarnings } from '../../endpoints/rates/closes.ts';
import { symbolSeriesOf } from '../../formulas/formula-parts.ts';
import type { LedgerReads } from '../../model/endpoint.ts';
import type { RequestedSymbol } from '../../model/price-query.ts';
import type { IntradayQuery } from './intraday-query.ts';

/** Warnings for those of some symbols that have no prices in the range, or only prices by the day. */
export async function intradayWarnings(
  { interval, first, last }: IntradayQuery,
  symbols: readonly RequestedSymbol[],
  prices: Prices,
  { firstIntradayDays }: Pick<LedgerReads, 'firstIntradayDays'>,
): Promise<string[]> {
  if (symbols.length === 0) return [];
  const firstDays = await firstIntradayDays(interval, symbolSeriesOf(symbols));
  const end = last + INTRADAY_MS[interval] - 1;
  const detail = interval === 'hour' ? 'hour' : 'minute';
  return symbols.flatMap((requested) => {
    const { code } = requested;
    const parts = symbolSeriesOf([requested]);
    const range = tradeDatesOf(parts, first, end);
    const warnings = rangeWarnings([requested], range, prices);
    if (warnings.length > 0) return warnings;
    const firstDay = Math.max(...parts.map((part) => firstDays.get(part) ?? Number.POSITIVE_INFINITY));
    if (firstDay <= range.last) return [];
    if (firstDay === Number.POSITIVE_INFINITY) return `${code} has no prices by the ${detail}.`;
    return `The prices of ${code} by the ${detail} start on ${printDay(firstDay)}, after this range.`;
  });
}

/** The trade dates from one moment to another, in the markets of all these series. */
function tradeDatesOf(series: readonly Series[], from: number, to: number): DayRange {
  const markets = series.map(({ symbol }) => marketOf(symbol.market));
  return {
    first: Math.min(...markets.map((market) => tradeDate(market, from))),
    last: Math.max(...markets.map((market) => tradeDate(market, to))),
  };
}
