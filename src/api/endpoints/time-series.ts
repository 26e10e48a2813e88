import type { SourcedBar } from '../../board/columns.ts';
import type { Day } from '../../market/day.ts';
import { printDay } from '../../market/day.ts';
import { priceEndpoint } from '../endpoint.ts';
import { lastingOf, readCodes, readRange } from '../parameters.ts';
import { readRates } from '../question.ts';
import {
  bySymbol,
  measureCells,
  measureJson,
  ohlcCells,
  ohlcJson,
  sourceIdsOf,
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
          content += `,"metadata":${bySymbol(symbols, ({ series }, i) => {
            const measure = measureJson(prices.measure(series));
            const sources = sourcesJson(board, bars[i]!.flatMap(sourceIdsOf));
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

/** Each day has its own exchange rate, and so its own factor. */
function factorsJson(bars: readonly SourcedBar[]): string {
  if (!bars[0]?.factor) return '';
  return `,"factors":{${bars.map((bar) => `"${printDay(bar.day)}":${bar.factor!.text}`).join(',')}}`;
}
