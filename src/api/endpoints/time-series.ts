import type { SourcedBar } from '../../board/columns.ts';
import type { Prices, Settled } from '../../board/prices.ts';
import { type Day, printDay } from '../../market/day.ts';
import type { AskedSymbol, Basket } from '../basket.ts';
import { intervalTable } from '../download/interval-table.ts';
import { priceEndpoint } from '../endpoint.ts';
import { lastingOf, readBasket, readRange } from '../parameters.ts';
import { readRates } from '../question.ts';
import { BarLines, SettledLines, writeByDay } from '../rate-lines.ts';
import { bySymbol, measureJson, sourceIdsOfAll, sourcesJson } from '../render.ts';
import { CLOSE, OPEN, type Sheet } from '../sheet.ts';

/** GET /rates/time-series: every day of a range on which a symbol has a bar. */
export const timeSeries = priceEndpoint({
  name: 'time-series',
  path: '/rates/time-series',
  needs: 'all',

  read(context) {
    const basket = readBasket(context.query, context.plan);
    const { first, last } = readRange(context.query, context.plan.maxSpanDays);
    return { ...readRates(context, basket, { name: 'startDate', day: first }), first, last };
  },

  reads: ({ first, last, today }) => ({ ranges: [{ first, last: Math.min(last, today) }], looksBack: false }),

  answer({ basket, symbols, first, last, today, metadata }, prices, { board, now }) {
    const end = Math.min(last, today);
    return {
      json(sheet) {
        sheet.ascii(
          `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","rates":`,
        );
        const begin = sheet.length;
        const found = writeRates(sheet, basket, symbols, prices, { first, last: end });
        if (sheet.length > begin) sheet.overwrite(begin, OPEN);
        else sheet.byte(OPEN);
        sheet.byte(CLOSE);
        if (metadata) {
          const records = bySymbol(symbols, ({ series }, i) => {
            const measure = measureJson(prices.measure(series));
            const sources = sourcesJson(board, sourceIdsIn(found[i]!));
            return `{${measure}${factorsJson(found[i]!)},"source":${sources}}`;
          });
          sheet.text(`,"metadata":${records}`);
        }
        sheet.byte(CLOSE);
      },
      table() {
        const span = { first, last: end, interval: 'day' } as const;
        // It costs one unit, however many rows it has: the plan limits its span.
        return intervalTable({
          board,
          symbols,
          prices,
          span,
          from: { day: first, place: 0 },
          unitsOf: () => 1,
        });
      },
      lasting: lastingOf(last, symbols, now - prices.delayMs),
    };
  },
});

/** The bars of a symbol: where they lie in the history, or themselves. */
type Found = Settled | SourcedBar[];

/** Writes a line for each day. Where all lie in the history, the basket has them ready if it was asked for before. */
function writeRates(
  sheet: Sheet,
  basket: Basket,
  symbols: readonly AskedSymbol[],
  prices: Prices,
  { first, last }: { first: Day; last: Day },
): Found[] {
  const found = symbols.map(
    ({ series }): Found => prices.settled?.(series, first, last) ?? prices.bars(series, first, last),
  );
  const settled = found.filter((one): one is Settled => !Array.isArray(one));
  const isReady =
    settled.length === found.length && basket.lines?.write(sheet, basket.codes, settled, first, last);
  if (!isReady) {
    const lines = found.map((one, i) => {
      const { code } = symbols[i]!;
      return Array.isArray(one) ? new BarLines(code, one) : new SettledLines(code, one);
    });
    writeByDay(sheet, lines);
  }
  return found;
}

function sourceIdsIn(found: Found): number[] {
  return Array.isArray(found) ? sourceIdsOfAll(found) : found.columns.sources(found.from, found.to);
}

/** Each day has its own exchange rate, and so its own factor. */
function factorsJson(bars: Found): string {
  if (!Array.isArray(bars) || !bars[0]?.factor) return '';
  return `,"factors":{${bars.map((bar) => `"${printDay(bar.day)}":${bar.factor!.text}`).join(',')}}`;
}
