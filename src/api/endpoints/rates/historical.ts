import { printDay } from '../../../market/day.ts';
import { priceEndpoint } from '../../model/endpoint.ts';
import { columnsOf } from '../../model/table.ts';
import { lastingOf, readBasket, readDay } from '../../params/parameters.ts';
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
    const basket = readBasket(context.query, context.plan);
    const day = readDay(context.query, 'date');
    return { ...readRates(context, basket, { name: 'date', day }), day };
  },

  reads: ({ day }) => closesOn([day]),

  answer({ symbols, day, metadata }, prices, { board, now }) {
    const bars = barsFor(symbols, day, prices);
    return {
      json(sheet) {
        const rates = symbols.map(({ code }, i) => rateJson(code, bars[i]!));
        let content = `{"success":true,"date":"${printDay(day)}","rates":{${rates}}`;
        if (metadata) {
          content += `,"metadata":${bySymbol(symbols, ({ series }, i) => {
            const bar = bars[i]!;
            const measure = measureJson(prices.measure(series), bar.factor);
            return `{${measure},"date":"${printDay(bar.day)}","source":${sourcesJson(board, sourceIdsOf(bar))}}`;
          })}`;
        }
        sheet.text(`${content}}`);
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
      lasting: lastingOf(day, symbols, now - prices.delayMs),
    };
  },
});
