import type { Series } from '../../../board/series/series.ts';
import type { Prices } from '../../../board/views/prices.ts';
import type { DayRange } from '../../../ledger/prices/past.ts';
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
  { withIntraday }: Pick<LedgerReads, 'withIntraday'>,
): Promise<string[]> {
  if (symbols.length === 0) return [];
  const found = await withIntraday(interval, symbolSeriesOf(symbols));
  const end = last + INTRADAY_MS[interval] - 1;
  return symbols.flatMap((requested) => {
    const parts = symbolSeriesOf([requested]);
    const warnings = rangeWarnings([requested], tradeDatesOf(parts, first, end), prices);
    if (warnings.length > 0 || parts.every((part) => found.has(part))) return warnings;
    return `${requested.code} has no prices by the ${interval === 'hour' ? 'hour' : 'minute'}.`;
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
