import type { Day } from '../../market/day.ts';
import { printDay } from '../../market/day.ts';
import { json, priceEndpoint } from '../endpoint.ts';
import { findSymbols, holdsToday, readCodes, readRange, wantsMetadata } from '../parameters.ts';
import { bySymbol, ohlcJson, sourcesJson, unitAndQuote } from '../render.ts';

/** GET /rates/time-series: every day of a range on which a symbol has a bar. */
export const timeSeries = priceEndpoint({
  name: 'time-series',
  path: '/rates/time-series',
  needs: 'all',

  read({ query, plan, board, now }) {
    const codes = readCodes(query, plan);
    const { first, last } = readRange(query, plan.maxSpanDays);
    const metadata = wantsMetadata(query);
    const { symbols, today } = findSymbols(codes, board, now, { name: 'startDate', day: first });
    return { symbols, series: symbols.map((asked) => asked.series), first, last, today, metadata };
  },

  answer({ symbols, first, last, today, metadata }, view, { board, now }) {
    const bars = symbols.map(({ series }) => view.bars(series, first, Math.min(last, today)));
    const days = new Map<Day, string>();
    symbols.forEach(({ code }, i) => {
      for (const bar of bars[i]!) {
        const before = days.get(bar.day);
        const own = `${JSON.stringify(code)}:${ohlcJson(bar)}`;
        days.set(bar.day, before === undefined ? own : `${before},${own}`);
      }
    });
    const rates = [...days.keys()]
      .sort((a, b) => a - b)
      .map((day) => `"${printDay(day)}":{${days.get(day)}}`)
      .join(',');
    let content = `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","rates":{${rates}}`;
    if (metadata) {
      content += `,"metadata":${bySymbol(symbols, (asked, i) => {
        const sources = sourcesJson(
          board,
          bars[i]!.map((bar) => bar.sourceId),
        );
        return `{${unitAndQuote(asked)},"source":${sources}}`;
      })}`;
    }
    return json(`${content}}`, holdsToday(last, symbols, now - view.delayMs));
  },
});
