import type { SourcedBar } from '../../board/columns.ts';
import { type Day, FIRST_DAY, printDay } from '../../market/day.ts';
import { priceEndpoint } from '../endpoint.ts';
import { lastingOf, readCodes, readRange } from '../parameters.ts';
import { readRates } from '../question.ts';
import { BarLines, type RateLines, rateLines } from '../rate-lines.ts';
import {
  bySymbol,
  measureCells,
  measureJson,
  ohlcCells,
  sourceIdsOf,
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
    const end = Math.min(last, today);
    return {
      json(sheet) {
        sheet.ascii(
          `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","rates":{`,
        );
        const lines = symbols.map((asked) => rateLines(asked, prices, first, end));
        writeByDay(sheet, lines);
        sheet.ascii('}');
        if (metadata) {
          const records = bySymbol(symbols, ({ series }, i) => {
            const measure = measureJson(prices.measure(series));
            const sources = sourcesJson(board, lines[i]!.sourceIds());
            return `{${measure}${factorsJson(lines[i]!)},"source":${sources}}`;
          });
          sheet.text(`,"metadata":${records}`);
        }
        sheet.ascii('}');
      },
      table() {
        const rows = symbols.flatMap(({ code, series }) => {
          const measure = prices.measure(series);
          const bars = prices.bars(series, first, end);
          return bars.map((bar) => ({ day: bar.day, cells: cellsOf(code, bar, measure) }));
        });
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
function writeByDay(sheet: Sheet, lines: readonly RateLines[]): void {
  const next = lines.map(() => 0);
  const days = lines.map((own) => (own.length > 0 ? own.day(0) : NEVER));
  let isFirst = true;
  for (;;) {
    let day = NEVER;
    for (let i = 0; i < days.length; i++) if (days[i]! < day) day = days[i]!;
    if (day === NEVER) return;
    sheet.ascii(isFirst ? keyOf(day).slice(1) : keyOf(day));
    isFirst = false;
    let before = OPEN;
    for (let i = 0; i < days.length; i++) {
      if (days[i] !== day) continue;
      const own = lines[i]!;
      sheet.byte(before);
      before = COMMA;
      own.write(next[i]!, sheet);
      next[i]!++;
      days[i] = next[i]! < own.length ? own.day(next[i]!) : NEVER;
    }
    sheet.byte(CLOSE);
  }
}

const NEVER: Day = Number.POSITIVE_INFINITY;
const [OPEN, COMMA, CLOSE] = ['{', ',', '}'].map((letter) => letter.charCodeAt(0)) as [
  number,
  number,
  number,
];

const keys: string[] = [];

/** `,"2024-05-14":`, written once for each day. */
function keyOf(day: Day): string {
  const known = keys[day - FIRST_DAY];
  if (known !== undefined) return known;
  const key = `,"${printDay(day)}":`;
  keys[day - FIRST_DAY] = key;
  return key;
}

/** Each day has its own exchange rate, and so its own factor. */
function factorsJson(lines: RateLines): string {
  if (!(lines instanceof BarLines) || !lines.bars[0]?.factor) return '';
  return `,"factors":{${lines.bars.map((bar) => `"${printDay(bar.day)}":${bar.factor!.text}`).join(',')}}`;
}
