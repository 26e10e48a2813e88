import type { Board } from '../../../board/board.ts';
import type { SourcedBar } from '../../../board/series/price-types.ts';
import type { Prices } from '../../../board/views/prices.ts';
import { type Day, printDay } from '../../../market/day.ts';
import type { JsonText } from '../../model/answer.ts';
import { type EndpointContext, priceEndpoint } from '../../model/endpoint.ts';
import type { RequestedSymbol } from '../../model/price-query.ts';
import { columnsOf, type FlatTable } from '../../model/table.ts';
import { finalityOf, readDay, readSymbolSet } from '../../params/parameters.ts';
import { readRates } from '../../params/rates-query.ts';
import {
  bySymbol,
  datedRateJson,
  measureCells,
  metadataStart,
  ohlcCells,
  rateJson,
  sourceIdsOf,
  sourceNames,
  sourcesJson,
} from '../../response/json.ts';
import { barsFor, closesOn } from './closes.ts';

const COLUMNS = columnsOf(
  'date:date symbol open:number high:number low:number close:number unit quote factor:number barDate:date source',
);

/** GET /rates/historical: open, high, low and close of one day. */
export const historical = priceEndpoint({
  name: 'historical',
  path: '/rates/historical',
  requiredData: 'all',

  read(context) {
    const symbolSet = readSymbolSet(context.query, context.plan);
    const day = readDay(context.query, 'date');
    return { ...readRates(context, symbolSet, { name: 'date', day }), day, lastDay: day };
  },

  reads: ({ day, symbols }) => closesOn([day], symbols),

  answer({ symbols, day, metadata }, prices, context) {
    const bars = barsFor(symbols, day, prices);
    const found = { symbols, bars, day };
    const content =
      context.format === 'json'
        ? jsonOf(found, metadata, prices, context)
        : tableOf(found, prices, context.board);
    return { content, finality: finalityOf(day, symbols, context.now - prices.delayMs) };
  },
});

interface BarsOfDay {
  day: Day;
  symbols: readonly RequestedSymbol[];
  /** One for each symbol. */
  bars: readonly SourcedBar[];
}

function jsonOf(
  { symbols, bars, day }: BarsOfDay,
  metadata: boolean,
  prices: Prices,
  { board, dialect }: EndpointContext,
): JsonText {
  const recordOf = dialect.datesRecords ? datedRateJson : rateJson;
  const rates = symbols.map(({ code }, i) => recordOf(code, bars[i]!));
  let json = `{"success":true,"date":"${printDay(day)}","rates":{${rates}}`;
  if (metadata) {
    json += `,"metadata":${bySymbol(symbols, (requested, i) => {
      const bar = bars[i]!;
      const measure = metadataStart(requested, prices.measure(requested.series), bar.factor);
      return `{${measure},"date":"${printDay(bar.day)}","source":${sourcesJson(board, sourceIdsOf([bar]))}}`;
    })}`;
  }
  return { json: `${json}}` };
}

function tableOf({ symbols, bars, day }: BarsOfDay, prices: Prices, board: Board): FlatTable {
  const rows = symbols.map(({ code, series }, i) => {
    const bar = bars[i]!;
    const measure = measureCells(prices.measure(series), bar.factor);
    const source = sourceNames(board, sourceIdsOf([bar]));
    return [printDay(day), code, ...ohlcCells(bar), ...measure, printDay(bar.day), source];
  });
  return { columns: COLUMNS, rows };
}
