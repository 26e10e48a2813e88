import type { SourcedBar } from '../../board/columns.ts';
import { printDay } from '../../market/day.ts';
import { priceEndpoint } from '../endpoint.ts';
import { type AskedSymbol, lastingOf, readCodes, readRange } from '../parameters.ts';
import { readRates } from '../question.ts';
import {
  bySymbol,
  measureCells,
  measureJson,
  ohlcCells,
  ohlcJson,
  sourceIdsOf,
  sourceIdsOfAll,
  sourceNames,
  sourcesJson,
} from '../render.ts';
import { columnsOf } from '../table.ts';

const COLUMNS = columnsOf('date symbol #open #high #low #close unit quote #factor source');

/** GET /rates/time-series: every day of a range on which a symbol has a bar. */
export const timeSeries = priceEndpoint({
  name: 'time-series',
  path: '/rates/time-series',
  needs: 'all',

  read(context) {
    const codes = readCodes(context.query, context.plan);
    const { first, last } = readRange(context.query, context.plan.maxSpanDays);
    return { ...readRates(context, codes, { name: 'startDate', first, last }), first, last };
  },

  answer({ symbols, first, last, today, metadata }, prices, { board, now }) {
    const bars = symbols.map(({ series }) => prices.bars(series, first, Math.min(last, today)));
    return {
      json() {
        const rates = ratesByDay(symbols, bars);
        let content = `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","rates":{${rates}}`;
        if (metadata) {
          content += `,"metadata":${bySymbol(symbols, ({ series }, i) => {
            const measure = measureJson(prices.measure(series));
            const sources = sourcesJson(board, sourceIdsOfAll(bars[i]!));
            return `{${measure}${factorsJson(bars[i]!)},"source":${sources}}`;
          })}`;
        }
        return { prefix: '', content: `${content}}` };
      },
      table() {
        const rows = symbols.flatMap(({ code, series }, i) =>
          bars[i]!.map((bar) => ({ day: bar.day, cells: cellsOf(code, bar, prices.measure(series)) })),
        );
        rows.sort((a, b) => a.day - b.day); // stable: on one day, in the order of symbols
        return { columns: COLUMNS, rows: rows.map(({ cells }) => cells) };
      },
      lasting: lastingOf(last, symbols, now - prices.delayMs),
    };

    function cellsOf(code: string, bar: SourcedBar, measure: { unit: string; quote: string }): string[] {
      const source = sourceNames(board, sourceIdsOf(bar));
      return [printDay(bar.day), code, ...ohlcCells(bar), ...measureCells(measure, bar.factor), source];
    }
  },
});

/** `"2024-05-14":{"XAU":{…},"XAG":{…}}` for each day that any symbol has: all symbols walk through their days together. */
function ratesByDay(symbols: readonly AskedSymbol[], bars: readonly (readonly SourcedBar[])[]): string {
  const next = symbols.map(() => 0);
  let json = '';
  for (;;) {
    let day = Number.POSITIVE_INFINITY;
    for (let i = 0; i < bars.length; i++) day = Math.min(day, bars[i]![next[i]!]?.day ?? day);
    if (day === Number.POSITIVE_INFINITY) return json;
    json += `${json === '' ? '' : ','}"${printDay(day)}":{`;
    let isFirst = true;
    for (let i = 0; i < bars.length; i++) {
      const bar = bars[i]![next[i]!];
      if (bar?.day !== day) continue;
      next[i]!++;
      json += `${isFirst ? '' : ','}"${symbols[i]!.code}":${ohlcJson(bar)}`;
      isFirst = false;
    }
    json += '}';
  }
}

/** Each day has its own exchange rate, and so its own factor. */
function factorsJson(bars: readonly SourcedBar[]): string {
  if (!bars[0]?.factor) return '';
  return `,"factors":{${bars.map((bar) => `"${printDay(bar.day)}":${bar.factor!.text}`).join(',')}}`;
}
