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
  rateJson,
  sourceIdsOf,
  sourceIdsOfAll,
  sourceNames,
  sourcesJson,
} from '../render.ts';
import type { Sheet } from '../sheet.ts';
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
      json(sheet) {
        sheet.ascii(
          `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","rates":{`,
        );
        writeRatesByDay(sheet, symbols, bars);
        sheet.ascii('}');
        if (metadata) {
          const records = bySymbol(symbols, ({ series }, i) => {
            const measure = measureJson(prices.measure(series));
            const sources = sourcesJson(board, sourceIdsOfAll(bars[i]!));
            return `{${measure}${factorsJson(bars[i]!)},"source":${sources}}`;
          });
          sheet.text(`,"metadata":${records}`);
        }
        sheet.ascii('}');
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
function writeRatesByDay(
  sheet: Sheet,
  symbols: readonly AskedSymbol[],
  bars: readonly (readonly SourcedBar[])[],
): void {
  const next = symbols.map(() => 0);
  let isFirst = true;
  for (;;) {
    let day = Number.POSITIVE_INFINITY;
    for (let i = 0; i < bars.length; i++) day = Math.min(day, bars[i]![next[i]!]?.day ?? day);
    if (day === Number.POSITIVE_INFINITY) return;
    sheet.ascii(isFirst ? '"' : ',"');
    isFirst = false;
    sheet.ascii(printDay(day));
    sheet.ascii('":');
    let before = OPEN;
    for (let i = 0; i < bars.length; i++) {
      const bar = bars[i]![next[i]!];
      if (bar?.day !== day) continue;
      next[i]!++;
      sheet.byte(before);
      sheet.ascii(rateJson(symbols[i]!.code, bar));
      before = COMMA;
    }
    sheet.byte(CLOSE);
  }
}

const [OPEN, COMMA, CLOSE] = ['{', ',', '}'].map((letter) => letter.charCodeAt(0)) as [
  number,
  number,
  number,
];

/** Each day has its own exchange rate, and so its own factor. */
function factorsJson(bars: readonly SourcedBar[]): string {
  if (!bars[0]?.factor) return '';
  return `,"factors":{${bars.map((bar) => `"${printDay(bar.day)}":${bar.factor!.text}`).join(',')}}`;
}
