import type { Series } from '../../../board/series/series.ts';
import type { Prices } from '../../../board/views/prices.ts';
import type { LedgerSymbol } from '../../../ledger/symbols/symbols.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { shouldYield, yieldToRequests } from '../../../runtime/yield.ts';
import type { Answer, LargeAnswer } from '../../model/answer.ts';
import { priceEndpoint } from '../../model/endpoint.ts';
import type { LongTable } from '../../model/long-table.ts';
import { columnsOf, type FlatRow } from '../../model/table.ts';

const COLUMNS = columnsOf(
  'symbol category name currency currencyName currencySymbol unit unitName status updateInterval firstDate lastDate',
);

/** Writing more symbols than this takes over a millisecond, so it yields to other requests. */
const LARGE_FROM_SYMBOLS = 500;

/** GET /symbols: all symbols, sorted by code. */
export const symbols = priceEndpoint({
  name: 'symbols',
  path: '/symbols',
  needs: 'dates',

  read({ board }) {
    return { series: board.catalog.symbols.map(({ code }) => board.catalog.find(code)!) };
  },

  answer({ series }, prices, { format }): Answer | Promise<Answer> {
    const dated = datesOf(series, prices);
    if (format !== 'json' && series.length > LARGE_FROM_SYMBOLS) return longAnswer(dated);
    return {
      json: (writer) => writer.text(`{"success":true,"symbols":[${dated.map(jsonOf).join(',')}]}`),
      table: () => ({ columns: COLUMNS, rows: dated.map(cellsOf) }),
      finality: 'open',
    };
  },

  large({ series }, prices, { format }) {
    if (format !== 'json' || series.length <= LARGE_FROM_SYMBOLS) return undefined;
    return largeAnswer(datesOf(series, prices));
  },
});

/** A symbol, with the dates that the customer's plan can see. */
interface DatedSymbol {
  symbol: LedgerSymbol;
  first: Day | undefined;
  last: Day | undefined;
}

function datesOf(series: readonly Series[], prices: Prices): DatedSymbol[] {
  return series.map((one) => ({
    symbol: one.symbol,
    first: prices.firstDay(one),
    last: prices.lastDay(one),
  }));
}

async function largeAnswer(dated: readonly DatedSymbol[]): Promise<LargeAnswer> {
  return { state: await stateOf(dated), finality: 'open', build: () => build(dated) };
}

async function build(dated: readonly DatedSymbol[]): Promise<Answer> {
  const parts: Buffer[] = [];
  let text = '{"success":true,"symbols":[';
  for (const [i, one] of dated.entries()) {
    text += `${i > 0 ? ',' : ''}${jsonOf(one)}`;
    if (!shouldYield()) continue;
    parts.push(Buffer.from(text));
    text = '';
    await yieldToRequests();
  }
  parts.push(Buffer.from(`${text}]}`));
  return {
    json: (writer) => {
      for (const part of parts) writer.copy(part, 0, part.length);
    },
    finality: 'open',
  };
}

/** Costs one unit, like the same list in JSON. */
async function longAnswer(dated: readonly DatedSymbol[]): Promise<Answer> {
  const table: LongTable = {
    columns: COLUMNS,
    state: await stateOf(dated),
    count: () => Promise.resolve(dated.length),
    pieces: () => rowPieces(dated),
    unitsOf: () => 1,
  };
  return { table: () => table, finality: 'open' };
}

const ROWS_PER_PIECE = 100;

function* rowPieces(dated: readonly DatedSymbol[]): Generator<FlatRow[]> {
  for (let from = 0; from < dated.length; from += ROWS_PER_PIECE) {
    yield dated.slice(from, from + ROWS_PER_PIECE).map(cellsOf);
  }
}

/** A digest of the list's content. */
async function stateOf(dated: readonly DatedSymbol[]): Promise<string> {
  const facts = new BigInt64Array(3 * dated.length);
  for (const [i, { symbol, first, last }] of dated.entries()) {
    if (shouldYield()) await yieldToRequests();
    facts[3 * i] = staticPart(symbol).digest;
    facts[3 * i + 1] = BigInt(first ?? NO_DAY);
    facts[3 * i + 2] = BigInt(last ?? NO_DAY);
  }
  return Bun.hash(facts).toString(36);
}

const NO_DAY = Number.MIN_SAFE_INTEGER;

/** The part of a record's JSON that does not depend on prices, without the closing brace. */
interface StaticPart {
  json: string;
  digest: bigint;
}

const staticParts = new WeakMap<LedgerSymbol, StaticPart>();

function staticPart(symbol: LedgerSymbol): StaticPart {
  const known = staticParts.get(symbol);
  if (known) return known;
  const { code, category, name, currency, unit, status, updateInterval } = symbol;
  const record = { symbol: code, category, name, currency, unit, status, updateInterval };
  const json = JSON.stringify(record).slice(0, -1);
  const part = { json, digest: BigInt.asIntN(64, BigInt(Bun.hash(json))) };
  staticParts.set(symbol, part);
  return part;
}

function jsonOf({ symbol, first, last }: DatedSymbol): string {
  const firstDate = first === undefined ? 'null' : `"${printDay(first)}"`;
  const lastDate = last === undefined ? 'null' : `"${printDay(last)}"`;
  return `${staticPart(symbol).json},"firstDate":${firstDate},"lastDate":${lastDate}}`;
}

function cellsOf({ symbol, first, last }: DatedSymbol): FlatRow {
  const { code, category, name, currency, unit, status, updateInterval } = symbol;
  return [
    code,
    category,
    name,
    currency.code,
    currency.name,
    currency.symbol,
    unit.symbol,
    unit.name,
    status,
    updateInterval,
    first === undefined ? undefined : printDay(first),
    last === undefined ? undefined : printDay(last),
  ];
}
