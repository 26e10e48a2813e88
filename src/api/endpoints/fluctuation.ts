import { printDay } from '../../market/day.ts';
import { printNumber } from '../../market/decimal.ts';
import { fluctuation as change } from '../../market/fluctuation.ts';
import { json, priceEndpoint } from '../endpoint.ts';
import { findSymbols, holdsToday, readCodes, readRange, wantsMetadata } from '../parameters.ts';
import { bySymbol, sourcesJson, unitAndQuote } from '../render.ts';
import { barsFor } from './closes.ts';

/** GET /rates/fluctuation: the change of each symbol between two days. */
export const fluctuation = priceEndpoint({
  name: 'fluctuation',
  path: '/rates/fluctuation',
  needs: 'all',

  read({ query, plan, board, now }) {
    const codes = readCodes(query, plan);
    const { first, last } = readRange(query, Number.POSITIVE_INFINITY);
    const metadata = wantsMetadata(query);
    const { symbols, today } = findSymbols(codes, board, now, { name: 'startDate', day: first });
    return { symbols, series: symbols.map((asked) => asked.series), first, last, today, metadata };
  },

  answer({ symbols, first, last, today, metadata }, view, { board, now }) {
    const starts = barsFor(symbols, first, view);
    const ends = barsFor(symbols, Math.min(last, today), view);
    const rates = bySymbol(symbols, (_, i) => {
      const [startRate, endRate] = [starts[i]!.close, ends[i]!.close];
      const { change: absolute, changePercent } = change(startRate, endRate);
      return `{"startRate":${printNumber(startRate)},"endRate":${printNumber(endRate)},"change":${absolute},"changePercent":${changePercent}}`;
    });
    let content = `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","rates":${rates}`;
    if (metadata) {
      content += `,"metadata":${bySymbol(symbols, (asked, i) => {
        const [start, end] = [starts[i]!, ends[i]!];
        const sources = sourcesJson(board, [start.sourceId, end.sourceId]);
        return `{${unitAndQuote(asked)},"startDate":"${printDay(start.day)}","endDate":"${printDay(end.day)}","source":${sources}}`;
      })}`;
    }
    return json(`${content}}`, holdsToday(last, symbols, now - view.delayMs));
  },
});
