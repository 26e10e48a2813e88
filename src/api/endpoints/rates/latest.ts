import type { LatestPrice } from '../../../board/series/price-types.ts';
import type { Series } from '../../../board/series/series.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { printNumber } from '../../../market/decimal.ts';
import { marketOf, tradeDate } from '../../../market/session.ts';
import type { UpdateInterval } from '../../../market/symbol.ts';
import { refuse } from '../../errors/errors.ts';
import { priceEndpoint } from '../../model/endpoint.ts';
import { columnsOf } from '../../model/table.ts';
import { readSymbolSet } from '../../params/parameters.ts';
import { readRates } from '../../params/rates-query.ts';
import {
  bySymbol,
  measureCells,
  measureJson,
  sourceIdsOf,
  sourceNames,
  sourcesJson,
} from '../../response/json.ts';

const COLUMNS = columnsOf('symbol #rate unit quote #factor at source #stale');

/** GET /rates/latest: the newest visible price of each symbol. */
export const latest = priceEndpoint({
  name: 'latest',
  path: '/rates/latest',
  needs: 'recent',

  read(context) {
    return readRates(context, readSymbolSet(context.query, context.plan));
  },

  answer({ symbols, metadata }, prices, { board, now }) {
    const found = symbols.map(({ series }) => prices.latest(series));
    const missing = symbols.filter((_, i) => found[i] === undefined);
    if (missing.length > 0) {
      throw refuse('no_data', {
        date: undefined,
        missing: missing.map(({ code }) => ({ code, firstDate: undefined })),
      });
    }
    const horizon = now - prices.delayMs;
    return {
      json(writer) {
        writer.ascii(`{"success":true,"timestamp":${Math.floor(now / 1000)},`);
        writer.beginContent();
        let content = `"rates":${bySymbol(symbols, (_, i) => printNumber(found[i]!.price))}`;
        if (metadata) {
          content += `,"metadata":${bySymbol(symbols, ({ series }, i) => {
            const latest = found[i]!;
            const measure = measureJson(prices.measure(series), latest.factor);
            const source = sourcesJson(board, sourceIdsOf(latest));
            return `{${measure},"at":"${printAt(latest)}","source":${source},"stale":${isStale(series, latest.day, horizon)}}`;
          })}`;
        }
        writer.text(`${content}}`);
      },
      table: () => ({
        columns: COLUMNS,
        rows: symbols.map(({ code, series }, i) => {
          const latest = found[i]!;
          const measure = measureCells(prices.measure(series), latest.factor);
          const source = sourceNames(board, sourceIdsOf(latest));
          const stale = String(isStale(series, latest.day, horizon));
          return [code, printNumber(latest.price), ...measure, printAt(latest), source, stale];
        }),
      }),
      finality: 'live',
    };
  },
});

/** The time of a tick, or the day of a close. */
export function printAt({ at, day }: LatestPrice): string {
  return at === undefined ? printDay(day) : new Date(at).toISOString();
}

/**
 * Days without a new price after which a symbol is stale. 4 covers a weekend and a holiday. Weekly and monthly values
 * are published after the period they describe, and one late release is tolerated.
 */
const STALE_AFTER_DAYS: Readonly<Record<UpdateInterval, number>> = { minute: 4, day: 5, week: 15, month: 75 };

/** A symbol whose feed has missed its schedule twice is stale regardless of the age of its price. */
function isStale({ symbol, lateFrom }: Series, day: Day, horizon: number): boolean {
  if (horizon > lateFrom) return true;
  return tradeDate(marketOf(symbol.market), horizon) - day > STALE_AFTER_DAYS[symbol.updateInterval];
}
