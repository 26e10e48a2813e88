import type { Board } from '../../../board/board.ts';
import type { Prices } from '../../../board/views/prices.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { intervalTable } from '../../history/interval-table.ts';
import { type BarsMetadata, buildRates, metadataOf, writeRates } from '../../history/rates-by-day.ts';
import type { LargeAnswer } from '../../model/answer.ts';
import { type ByteWriter, CLOSE, OPEN } from '../../model/byte-writer.ts';
import { type EndpointContext, priceEndpoint } from '../../model/endpoint.ts';
import { isLarge, stateOfBars } from '../../model/large-answer.ts';
import type { RequestedSymbol } from '../../model/price-query.ts';
import { finalityOf, readRange, readSymbolSet } from '../../params/parameters.ts';
import { type RatesQuery, readRates } from '../../params/rates-query.ts';
import { bySymbol, measureJson, sourcesJson } from '../../response/json.ts';

/** GET /rates/time-series: open, high, low and close of each day of a range that has a bar. */
export const timeSeries = priceEndpoint({
  name: 'time-series',
  path: '/rates/time-series',
  needs: 'all',

  read(context) {
    const symbolSet = readSymbolSet(context.query, context.plan);
    const { first, last } = readRange(context.query, context.plan.maxSpanDays);
    return { ...readRates(context, symbolSet, { name: 'startDate', day: first }), first, last };
  },

  reads: ({ first, last, today }) => ({ ranges: [{ first, last: Math.min(last, today) }], looksBack: false }),

  answer(ratesQuery, prices, { board, now }) {
    const { symbolSet, symbols, first, last, metadata } = ratesQuery;
    const end = lastDayOf(ratesQuery);
    return {
      json(writer) {
        const begin = openJson(writer, ratesQuery);
        const found = writeRates(writer, symbols, prices, { first, last: end }, symbolSet);
        closeJson(writer, begin, metadata && metadataJson(board, symbols, prices, [found.map(metadataOf)]));
      },
      table() {
        const span = { first, last: end, interval: 'day' } as const;
        // It costs one unit regardless of its rows: the plan limits its span.
        return intervalTable({
          board,
          symbols,
          prices,
          span,
          from: { day: first, symbolIndex: 0 },
          unitsOf: () => 1,
        });
      },
      finality: finalityOf(last, symbols, now - prices.delayMs),
    };
  },

  large(ratesQuery, prices, context) {
    const { symbols, first } = ratesQuery;
    if (context.format !== 'json' || !isLarge(symbols, first, lastDayOf(ratesQuery), prices))
      return undefined;
    return largeOf(ratesQuery, prices, context);
  },
});

interface TimeSeriesQuery extends RatesQuery {
  first: Day;
  last: Day;
}

function lastDayOf({ last, today }: TimeSeriesQuery): Day {
  return Math.min(last, today);
}

function largeOf(ratesQuery: TimeSeriesQuery, prices: Prices, { board, now }: EndpointContext): LargeAnswer {
  const { symbolSet, symbols, first, last, metadata, conversion } = ratesQuery;
  const days = { first, last: lastDayOf(ratesQuery) };
  const frozen = prices.freeze!(symbols.map(({ series }) => series))!;
  for (const { series } of symbols) frozen.requireComplete(series, first, days.last);
  const finality = finalityOf(last, symbols, now - prices.delayMs);
  return {
    state: JSON.stringify(['time-series', first, last, metadata, stateOfBars(symbols, frozen, days)]),
    finality,
    async build() {
      const rates = await buildRates(symbols, frozen, days, {
        symbolSet,
        isConverted: !!conversion,
      });
      return {
        json(writer) {
          const begin = openJson(writer, ratesQuery);
          writer.copy(rates.bytes, 0, rates.bytes.length);
          closeJson(writer, begin, metadata && metadataJson(board, symbols, frozen, rates.metadata));
        },
        finality,
      };
    },
  };
}

/** Returns the offset at which the rates start. */
function openJson(writer: ByteWriter, { first, last }: TimeSeriesQuery): number {
  writer.ascii(`{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","rates":`);
  return writer.length;
}

/** Every day is written with a leading comma; the first one is overwritten with the opening brace. */
function closeJson(writer: ByteWriter, begin: number, metadata: string | false): void {
  if (writer.length > begin) writer.overwrite(begin, OPEN);
  else writer.byte(OPEN);
  writer.byte(CLOSE);
  if (metadata !== false) writer.text(`,"metadata":${metadata}`);
  writer.byte(CLOSE);
}

/** `parts` are consecutive spans of days, each with the metadata of every symbol. */
function metadataJson(
  board: Board,
  symbols: readonly RequestedSymbol[],
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
