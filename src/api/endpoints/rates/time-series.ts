import type { Board } from '../../../board/board.ts';
import type { Prices } from '../../../board/prices.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { intervalTable } from '../../history/interval-table.ts';
import { type BarsMetadata, buildRates, metadataOf, writeRates } from '../../history/rates-by-day.ts';
import { type Context, priceEndpoint } from '../../model/endpoint.ts';
import { isLarge, type LargeAnswer, stateOfBars } from '../../model/large-answer.ts';
import { lastingOf, readBasket, readRange } from '../../params/parameters.ts';
import { type RatesQuestion, readRates } from '../../params/rates-query.ts';
import type { AskedSymbol } from '../../params/symbol-set.ts';
import { CLOSE, OPEN, type Sheet } from '../../response/byte-writer.ts';
import { bySymbol, measureJson, sourcesJson } from '../../response/json.ts';

/** GET /rates/time-series: open, high, low and close of each day of a range that has a bar. */
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

  answer(question, prices, { board, now }) {
    const { basket, symbols, first, last, metadata } = question;
    const end = lastDayOf(question);
    return {
      json(sheet) {
        const begin = openJson(sheet, question);
        const found = writeRates(sheet, symbols, prices, { first, last: end }, basket);
        closeJson(sheet, begin, metadata && metadataJson(board, symbols, prices, [found.map(metadataOf)]));
      },
      table() {
        const span = { first, last: end, interval: 'day' } as const;
        // It costs one unit regardless of its rows: the plan limits its span.
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

  large(question, prices, context) {
    const { symbols, first } = question;
    if (context.format !== 'json' || !isLarge(symbols, first, lastDayOf(question), prices)) return undefined;
    return largeOf(question, prices, context);
  },
});

interface TimeSeriesQuestion extends RatesQuestion {
  first: Day;
  last: Day;
}

function lastDayOf({ last, today }: TimeSeriesQuestion): Day {
  return Math.min(last, today);
}

function largeOf(question: TimeSeriesQuestion, prices: Prices, { board, now }: Context): LargeAnswer {
  const { basket, symbols, first, last, metadata, conversion } = question;
  const days = { first, last: lastDayOf(question) };
  const frozen = prices.freeze!(symbols.map(({ series }) => series))!;
  for (const { series } of symbols) frozen.requireComplete(series, first, days.last);
  const lasting = lastingOf(last, symbols, now - prices.delayMs);
  return {
    state: JSON.stringify(['time-series', first, last, metadata, stateOfBars(symbols, frozen, days)]),
    lasting,
    async build() {
      const rates = await buildRates(symbols, frozen, days, {
        basket,
        isConverted: !!conversion,
      });
      return {
        json(sheet) {
          const begin = openJson(sheet, question);
          sheet.copy(rates.bytes, 0, rates.bytes.length);
          closeJson(sheet, begin, metadata && metadataJson(board, symbols, frozen, rates.metadata));
        },
        lasting,
      };
    },
  };
}

/** Returns the offset at which the rates start. */
function openJson(sheet: Sheet, { first, last }: TimeSeriesQuestion): number {
  sheet.ascii(`{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","rates":`);
  return sheet.length;
}

/** Every day is written with a leading comma; the first one is overwritten with the opening brace. */
function closeJson(sheet: Sheet, begin: number, metadata: string | false): void {
  if (sheet.length > begin) sheet.overwrite(begin, OPEN);
  else sheet.byte(OPEN);
  sheet.byte(CLOSE);
  if (metadata !== false) sheet.text(`,"metadata":${metadata}`);
  sheet.byte(CLOSE);
}

/** `parts` are consecutive spans of days, each with the metadata of every symbol. */
function metadataJson(
  board: Board,
  symbols: readonly AskedSymbol[],
  prices: Prices,
  parts: readonly (readonly BarsMetadata[])[],
): string {
  return bySymbol(symbols, ({ series }, i) => {
    const { sourceIds, factors } = parts.length === 1 ? parts[0]![i]! : joined(parts.map((part) => part[i]!));
    const factorsJson = factors === '' ? '' : `,"factors":{${factors}}`;
    return `{${measureJson(prices.measure(series))}${factorsJson},"source":${sourcesJson(board, sourceIds)}}`;
  });
}

function joined(parts: readonly BarsMetadata[]): BarsMetadata {
  const factors = parts.map((part) => part.factors).filter((text) => text !== '');
  return { sourceIds: parts.flatMap((part) => part.sourceIds), factors: factors.join(',') };
}
