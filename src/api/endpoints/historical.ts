import { printDay } from '../../market/day.ts';
import { json, priceEndpoint } from '../endpoint.ts';
import { findSymbols, holdsToday, readCodes, readDay, wantsMetadata } from '../parameters.ts';
import { bySymbol, ohlcJson, sourcesJson, unitAndQuote } from '../render.ts';
import { barsFor } from './closes.ts';

/** GET /rates/historical: open, high, low and close of one day. */
export const historical = priceEndpoint({
  name: 'historical',
  path: '/rates/historical',
  needs: 'all',

  read({ query, plan, board, now }) {
    const codes = readCodes(query, plan);
    const day = readDay(query, 'date');
    const metadata = wantsMetadata(query);
    const { symbols } = findSymbols(codes, board, now, { name: 'date', day });
    return { symbols, series: symbols.map((asked) => asked.series), day, metadata };
  },

  answer({ symbols, day, metadata }, view, { board, now }) {
    const bars = barsFor(symbols, day, view);
    let content = `{"success":true,"date":"${printDay(day)}","rates":${bySymbol(symbols, (_, i) => ohlcJson(bars[i]!))}`;
    if (metadata) {
      content += `,"metadata":${bySymbol(symbols, (asked, i) => {
        const bar = bars[i]!;
        return `{${unitAndQuote(asked)},"date":"${printDay(bar.day)}","source":${sourcesJson(board, [bar.sourceId])}}`;
      })}`;
    }
    return json(`${content}}`, holdsToday(day, symbols, now - view.delayMs));
  },
});
