import { printDay } from '../../../market/day.ts';
import { priceEndpoint } from '../../model/endpoint.ts';
import { columnsOf } from '../../model/table.ts';
import { finalityOf, readDay, readSymbolSet } from '../../params/parameters.ts';
import { readRates } from '../../params/rates-query.ts';
import {
  bySymbol,
  measureCells,
  measureJson,
  ohlcCells,
  rateJson,
  sourceIdsOf,
  sourceNames,
  sourcesJson,
} from '../../response/json.ts';
import { barsFor, closesOn } from './closes.ts';

const COLUMNS = columnsOf('date symbol #open #high #low #close unit quote #factor barDate source');

/** GET /rates/historical: open, high, low and close of one day. */
export const historical = priceEndpoint({
  name: 'historical',
  path: '/rates/historical',
  needs: 'all',

  read(context) {
    const symbolSet = readSymbolSet(context.query, context.plan);
    const day = readDay(context.query, 'date');
    return { ...readRates(context, symbolSet, { name: 'date', day }), day };
  },

  reads: ({ day }) => closesOn([day]),

  answer({ symbols, day, metadata }, prices, { board, now }) {
    const bars = barsFor(symbols, day, prices);
    return {
      json(writer) {
        const rates = symbols.map(({ code }, i) => rateJson(code, bars[i]!));
        let content = `{"success":true,"date":"${printDay(day)}","rates":{${rates}}`;
        if (metadata) {
          content += `,"metadata":${bySymbol(symbols, ({ series }, i) => {
            const bar = bars[i]!;
            const measure = measureJson(prices.measure(series), bar.factor);
            return `{${measure},"date":"${printDay(bar.day)}","source":${sourcesJson(board, sourceIdsOf(bar))}}`;
          })}`;
        }
        writer.text(`${content}}`);
      },
      table: () => ({
        columns: COLUMNS,
        rows: symbols.map(({ code, series }, i) => {
          const bar = bars[i]!;
          const measure = measureCells(prices.measure(series), bar.factor);
          const source = sourceNames(board, sourceIdsOf(bar));
          return [printDay(day), code, ...ohlcCells(bar), ...measure, printDay(bar.day), source];
        }),
      }),
      finality: finalityOf(day, symbols, now - prices.delayMs),
    };
  },
});
