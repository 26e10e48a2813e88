import type { Series } from '../../board/series.ts';
import type { LatestPrice } from '../../board/strand-view.ts';
import { type Day, printDay } from '../../market/day.ts';
import { printNumber } from '../../market/decimal.ts';
import { marketOf, tradeDate } from '../../market/session.ts';
import type { UpdateInterval } from '../../market/symbol.ts';
import { json, priceEndpoint } from '../endpoint.ts';
import { refuse } from '../errors.ts';
import { findSymbols, readCodes, wantsMetadata } from '../parameters.ts';
import { bySymbol, sourcesJson, unitAndQuote } from '../render.ts';

/** GET /rates/latest: the newest visible price of each symbol. */
export const latest = priceEndpoint({
  name: 'latest',
  path: '/rates/latest',
  needs: 'recent',

  read({ query, plan, board, now }) {
    const codes = readCodes(query, plan);
    const metadata = wantsMetadata(query);
    const { symbols } = findSymbols(codes, board, now);
    return { symbols, series: symbols.map((asked) => asked.series), metadata };
  },

  answer({ symbols, metadata }, view, { board, now }) {
    const prices = symbols.map(({ series }) => view.latest(series));
    const missing = symbols.filter((_, i) => prices[i] === undefined);
    if (missing.length > 0) {
      throw refuse('no_data', {
        date: undefined,
        missing: missing.map(({ code }) => ({ code, firstDate: undefined })),
      });
    }
    const horizon = now - view.delayMs;
    let content = `"rates":${bySymbol(symbols, (_, i) => printNumber(prices[i]!.price))}`;
    if (metadata) {
      content += `,"metadata":${bySymbol(symbols, (asked, i) => {
        const latest = prices[i]!;
        const source = sourcesJson(board, [latest.sourceId]);
        return `{${unitAndQuote(asked)},"at":"${printAt(latest)}","source":${source},"stale":${isStale(asked.series, latest.day, horizon)}}`;
      })}`;
    }
    return json(`${content}}`, true, `{"success":true,"timestamp":${Math.floor(now / 1000)},`);
  },
});

/** The moment of a tick, or the day of a close. */
export function printAt({ at, day }: LatestPrice): string {
  return at === undefined ? printDay(day) : new Date(at).toISOString();
}

/**
 * After how many days without a new price it is stale. 4: a weekend and a holiday. A weekly or monthly value comes
 * out after the time it stands for, and may be late once.
 */
const STALE_AFTER_DAYS: Readonly<Record<UpdateInterval, number>> = { minute: 4, day: 5, week: 15, month: 75 };

/** A symbol whose feed has missed its schedule twice is stale, however young its price is. */
function isStale({ symbol, lateFrom }: Series, day: Day, horizon: number): boolean {
  if (horizon > lateFrom) return true;
  return tradeDate(marketOf(symbol.market), horizon) - day > STALE_AFTER_DAYS[symbol.updateInterval];
}
