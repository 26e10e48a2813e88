import type { Board } from '../../../board/board.ts';
import type { LatestPrice } from '../../../board/series/price-types.ts';
import type { Series } from '../../../board/series/series.ts';
import type { Prices } from '../../../board/views/prices.ts';
import type { LedgerSymbol } from '../../../ledger/symbols/symbols.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { printNumber } from '../../../market/decimal.ts';
import { marketOf, tradeDate } from '../../../market/session.ts';
import type { UpdateInterval } from '../../../market/symbol.ts';
import { copyText } from '../../../runtime/bounded-cache.ts';
import { refuse } from '../../errors/errors.ts';
import type { JsonText } from '../../model/answer.ts';
import { type EndpointContext, priceEndpoint } from '../../model/endpoint.ts';
import type { RequestedSymbol } from '../../model/price-query.ts';
import { columnsOf, type FlatTable } from '../../model/table.ts';
import { readSymbolSet } from '../../params/parameters.ts';
import { readRates } from '../../params/rates-query.ts';
import {
  aliasMember,
  bySymbol,
  measureCells,
  measureJson,
  sourceIdsOf,
  sourceNames,
  sourcesJson,
} from '../../response/json.ts';
import { timestampStart } from '../../response/timestamp.ts';

const COLUMNS = columnsOf('symbol rate:number unit quote factor:number at source stale:boolean');

/** GET /rates/latest: the newest visible price of each symbol. */
export const latest = priceEndpoint({
  name: 'latest',
  path: '/rates/latest',
  requiredData: 'latest',

  read(context) {
    return readRates(context, readSymbolSet(context.query, context.plan));
  },

  answer({ symbols, metadata }, prices, context) {
    const found = latestOf(symbols, prices);
    const content =
      context.format === 'json'
        ? jsonOf(symbols, found, metadata, prices, context)
        : tableOf(symbols, found, prices, context);
    return { content, finality: 'live' };
  },
});

/** The newest price of each symbol. Throws a refusal that names the symbols without one. */
function latestOf(symbols: readonly RequestedSymbol[], prices: Prices): LatestPrice[] {
  const found = symbols.map(({ series }) => prices.latest(series));
  const missing = symbols.filter((_, i) => found[i] === undefined);
  if (missing.length === 0) return found as LatestPrice[];
  throw refuse('no_data', {
    missing: missing.map(({ code, series }) => ({ code, firstDate: undefined, isHidden: series.isHidden })),
  });
}

function jsonOf(
  symbols: readonly RequestedSymbol[],
  found: readonly LatestPrice[],
  metadata: boolean,
  prices: Prices,
  { board, now, dialect }: EndpointContext,
): JsonText {
  const begin = timestampStart(now);
  const horizon = now - prices.delayMs;
  const texts = symbols.map(({ series }, i) => textsOf(series, found[i]!, prices, board));
  let json = `${begin}"rates":${bySymbol(symbols, (_, i) => texts[i]!.price)}`;
  if (metadata) {
    const records = bySymbol(symbols, (requested, i) => {
      const stale = isStale(requested.series, found[i]!.day, horizon);
      return `{${aliasMember(requested)}${texts[i]!.metadata},"stale":${stale}}`;
    });
    json += `,"metadata":${records}`;
    if (dialect.repeatsMetadata) json += `,"metaData":${records}`;
  }
  return { json: `${json}}`, untaggedLength: begin.length };
}

/** What is the same in all answers with one price. */
interface PriceTexts {
  /** The symbol when they were made: its unit can change. */
  symbol: LedgerSymbol;
  price: string;
  metadata: string;
}

/** By price. A new price is a new object, and so is a converted one. */
const textsByPrice = new WeakMap<LatestPrice, PriceTexts>();

function textsOf(series: Series, latest: LatestPrice, prices: Prices, board: Board): PriceTexts {
  const { symbol } = series;
  const known = textsByPrice.get(latest);
  if (known?.symbol === symbol) return known;
  const measure = measureJson(prices.measure(series), latest.factor);
  const metadata = `${measure},"at":"${printAt(latest)}","source":${sourcesJson(board, sourceIdsOf([latest]))}`;
  const texts = { symbol, price: printNumber(latest.price), metadata };
  if (!latest.factor) textsByPrice.set(latest, { ...texts, metadata: copyText(metadata) });
  return texts;
}

function tableOf(
  symbols: readonly RequestedSymbol[],
  found: readonly LatestPrice[],
  prices: Prices,
  { board, now }: EndpointContext,
): FlatTable {
  const rows = symbols.map(({ code, series }, i) => {
    const latest = found[i]!;
    const measure = measureCells(prices.measure(series), latest.factor);
    const source = sourceNames(board, sourceIdsOf([latest]));
    const stale = String(isStale(series, latest.day, now - prices.delayMs));
    return [code, printNumber(latest.price), ...measure, printAt(latest), source, stale];
  });
  return { columns: COLUMNS, rows };
}

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
export function isStale({ symbol, lateFrom }: Series, day: Day, horizon: number): boolean {
  if (horizon > lateFrom) return true;
  return tradeDate(marketOf(symbol.market), horizon) - day > STALE_AFTER_DAYS[symbol.updateInterval];
}
