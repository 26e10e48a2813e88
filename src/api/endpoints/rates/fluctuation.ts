import { printDay } from '../../../market/day.ts';
import { printNumber } from '../../../market/decimal.ts';
import { fluctuation as change } from '../../../market/fluctuation.ts';
import { priceEndpoint } from '../../model/endpoint.ts';
import { columnsOf } from '../../model/table.ts';
import { finalityOf, readRange, readSymbolSet } from '../../params/parameters.ts';
import { readRates } from '../../params/rates-query.ts';
import { bySymbol, measureJson, sourceIdsOf, sourceNames } from '../../response/json.ts';
import { barsFor, closesOn } from './closes.ts';

const COLUMNS = columnsOf(
  'symbol startDate endDate #startRate #endRate #change #changePercent unit quote #startFactor #endFactor startBarDate endBarDate source',
);

/** GET /rates/fluctuation: each symbol's change between two days. */
export const fluctuation = priceEndpoint({
  name: 'fluctuation',
  path: '/rates/fluctuation',
  needs: 'all',

  read(context) {
    const symbolSet = readSymbolSet(context.query, context.plan);
    const { first, last } = readRange(context.query, Number.POSITIVE_INFINITY);
    return { ...readRates(context, symbolSet, { name: 'startDate', day: first }), first, last };
  },

  reads: ({ first, last, today }) => closesOn([first, Math.min(last, today)]),

  answer({ symbols, first, last, today, metadata }, prices, { board, now }) {
    const starts = barsFor(symbols, first, prices);
    const ends = barsFor(symbols, Math.min(last, today), prices);
    const records = symbols.map(({ series }, i) => {
      const [start, end] = [starts[i]!, ends[i]!];
      return {
        startRate: printNumber(start.close),
        endRate: printNumber(end.close),
        ...change(start.close, end.close),
        measure: prices.measure(series),
        start,
        end,
      };
    });
    type Record = (typeof records)[number];
    const sourceOf = ({ start, end }: Record) =>
      sourceNames(board, [...sourceIdsOf(start), ...sourceIdsOf(end)]);
    return {
      json(writer) {
        const rates = bySymbol(symbols, (_, i) => {
          const one = records[i]!;
          return `{"startRate":${one.startRate},"endRate":${one.endRate},"change":${one.change},"changePercent":${one.changePercent}}`;
        });
        let content = `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","rates":${rates}`;
        if (metadata) {
          content += `,"metadata":${bySymbol(symbols, (_, i) => {
            const one = records[i]!;
            const { start, end } = one;
            const factors =
              start.factor && end.factor
                ? `,"startFactor":${start.factor.text},"endFactor":${end.factor.text}`
                : '';
            return `{${measureJson(one.measure)}${factors},"startDate":"${printDay(start.day)}","endDate":"${printDay(end.day)}","source":${JSON.stringify(sourceOf(one))}}`;
          })}`;
        }
        writer.text(`${content}}`);
      },
      table: () => ({
        columns: COLUMNS,
        rows: records.map((one, i) => [
          symbols[i]!.code,
          printDay(first),
          printDay(last),
          one.startRate,
          one.endRate,
          one.change,
          one.changePercent,
          one.measure.unit,
          one.measure.quote,
          one.start.factor?.text ?? '1',
          one.end.factor?.text ?? '1',
          printDay(one.start.day),
          printDay(one.end.day),
          sourceOf(one),
        ]),
      }),
      finality: finalityOf(last, symbols, now - prices.delayMs),
    };
  },
});
