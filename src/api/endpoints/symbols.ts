import type { Prices } from '../../board/prices.ts';
import type { Series } from '../../board/series.ts';
import { type Day, printDay } from '../../market/day.ts';
import { priceEndpoint } from '../endpoint.ts';
import { columnsOf } from '../table.ts';

const COLUMNS = columnsOf(
  'symbol category name currency currencyName currencySymbol unit unitName status updateInterval firstDate lastDate',
);

/** GET /symbols: every symbol, sorted by code. */
export const symbols = priceEndpoint({
  name: 'symbols',
  path: '/symbols',
  needs: 'recent',

  read({ board }) {
    return { series: board.catalog.symbols.map(({ code }) => board.catalog.find(code)!) };
  },

  answer({ series }, prices) {
    const records = series.map((one) => recordOf(one, prices));
    return {
      json(sheet) {
        const list = records.map((record) => JSON.stringify(record)).join(',');
        sheet.text(`{"success":true,"symbols":[${list}]}`);
      },
      table: () => ({ columns: COLUMNS, rows: records.map(cellsOf) }),
      lasting: 'open',
    };
  },
});

type Record = ReturnType<typeof recordOf>;

function recordOf(series: Series, prices: Prices) {
  const { code, category, name, currency, unit, status, updateInterval } = series.symbol;
  return {
    symbol: code,
    category,
    name,
    currency,
    unit,
    status,
    updateInterval,
    firstDate: dateOrNull(prices.firstDay(series)),
    lastDate: dateOrNull(prices.lastDay(series)),
  };
}

function cellsOf({ currency, unit, ...one }: Record): (string | undefined)[] {
  return [
    one.symbol,
    one.category,
    one.name,
    currency.code,
    currency.name,
    currency.symbol,
    unit.symbol,
    unit.name,
    one.status,
    one.updateInterval,
    one.firstDate ?? undefined,
    one.lastDate ?? undefined,
  ];
}

function dateOrNull(day: Day | undefined): string | null {
  return day === undefined ? null : printDay(day);
}
