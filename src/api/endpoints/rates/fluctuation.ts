import type { Board } from '../../../board/board.ts';
import type { Measure, SourcedBar } from '../../../board/series/price-types.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { printNumber } from '../../../market/decimal.ts';
import { fluctuation as change, type Fluctuation } from '../../../market/fluctuation.ts';
import type { JsonText } from '../../model/answer.ts';
import { priceEndpoint } from '../../model/endpoint.ts';
import type { RequestedSymbol } from '../../model/price-query.ts';
import { columnsOf, type FlatTable } from '../../model/table.ts';
import { finalityOf, readRange, readSymbolSet } from '../../params/parameters.ts';
import { type RatesQuery, readRates } from '../../params/rates-query.ts';
import { bySymbol, metadataStart, sourceIdsOf, sourceNames, sourcesJson } from '../../response/json.ts';
import { barsFor, closesOn } from './closes.ts';

const COLUMNS = columnsOf(
  'symbol startDate:date endDate:date startRate:number endRate:number change:number changePercent:number unit quote startFactor:number endFactor:number startBarDate:date endBarDate:date source',
);

/** GET /rates/fluctuation: each symbol's change between two days. */
export const fluctuation = priceEndpoint({
  name: 'fluctuation',
  path: '/rates/fluctuation',
  requiredData: 'all',

  read(context) {
    const symbolSet = readSymbolSet(context.query, context.plan);
    const { first, last } = readRange(context.query, Number.POSITIVE_INFINITY);
    return {
      ...readRates(context, symbolSet, { name: 'startDate', day: first }),
      first,
      last,
      lastDay: last,
    };
  },

  reads: ({ first, last, today, symbols }) => closesOn([first, Math.min(last, today)], symbols),

  answer(ratesQuery, prices, { board, now, format }) {
    const { symbols, first, last, today } = ratesQuery;
    const starts = barsFor(symbols, first, prices);
    const ends = barsFor(symbols, Math.min(last, today), prices);
    const changes = symbols.map((requested, i): SymbolChange => {
      const [start, end] = [starts[i]!, ends[i]!];
      const measure = prices.measure(requested.series);
      return { ...requested, measure, start, end, ...change(start.close, end.close) };
    });
    const content =
      format === 'json' ? jsonOf(ratesQuery, changes, board) : tableOf(ratesQuery, changes, board);
    return { content, finality: finalityOf(last, symbols, now - prices.delayMs) };
  },
});

interface FluctuationQuery extends RatesQuery {
  first: Day;
  last: Day;
}

interface SymbolChange extends RequestedSymbol, Fluctuation {
  measure: Measure;
  start: SourcedBar;
  end: SourcedBar;
}

function jsonOf(
  { symbols, first, last, metadata }: FluctuationQuery,
  changes: readonly SymbolChange[],
  board: Board,
): JsonText {
  const rates = bySymbol(symbols, (_, i) => rateOf(changes[i]!));
  const json = `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","rates":${rates}`;
  if (!metadata) return { json: `${json}}` };
  return { json: `${json},"metadata":${bySymbol(symbols, (_, i) => metadataOf(changes[i]!, board))}}` };
}

function rateOf({ start, end, change, changePercent }: SymbolChange): string {
  return `{"startRate":${printNumber(start.close)},"endRate":${printNumber(end.close)},"change":${change},"changePercent":${changePercent}}`;
}

function metadataOf(one: SymbolChange, board: Board): string {
  const { start, end, measure } = one;
  const factors =
    start.factor && end.factor ? `,"startFactor":${start.factor.text},"endFactor":${end.factor.text}` : '';
  return `{${metadataStart(one, measure)}${factors},"startDate":"${printDay(start.day)}","endDate":"${printDay(end.day)}","source":${sourcesJson(board, sourceIdsOf([start, end]))}}`;
}

function tableOf(
  { first, last }: FluctuationQuery,
  changes: readonly SymbolChange[],
  board: Board,
): FlatTable {
  const rows = changes.map((one) => {
    const { code, measure, start, end, change, changePercent } = one;
    return [
      code,
      printDay(first),
      printDay(last),
      printNumber(start.close),
      printNumber(end.close),
      change,
      changePercent,
      measure.unit,
      measure.quote,
      start.factor?.text ?? '1',
      end.factor?.text ?? '1',
      printDay(start.day),
      printDay(end.day),
      sourceNames(board, sourceIdsOf([start, end])),
    ];
  });
  return { columns: COLUMNS, rows };
}
