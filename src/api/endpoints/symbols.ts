import type { Series } from '../../board/series.ts';
import type { View } from '../../board/view.ts';
import { type Day, printDay } from '../../market/day.ts';
import { json, priceEndpoint } from '../endpoint.ts';

/** GET /symbols: every symbol, sorted by code. */
export const symbols = priceEndpoint({
  name: 'symbols',
  path: '/symbols',
  needs: 'recent',

  read({ board }) {
    return { series: board.catalog.symbols.map(({ code }) => board.catalog.find(code)!) };
  },

  answer({ series }, view) {
    const records = series.map((one) => recordJson(one, view)).join(',');
    return json(`{"success":true,"symbols":[${records}]}`, true);
  },
});

function recordJson(series: Series, view: View): string {
  const { code, category, name, currency, unit, status, updateInterval } = series.symbol;
  return JSON.stringify({
    symbol: code,
    category,
    name,
    currency,
    unit,
    status,
    updateInterval,
    firstDate: dateOrNull(view.firstDay(series)),
    lastDate: dateOrNull(view.lastDay(series)),
  });
}

function dateOrNull(day: Day | undefined): string | null {
  return day === undefined ? null : printDay(day);
}
