import type { Series } from '../../../board/series/series.ts';
import type { Prices } from '../../../board/views/prices.ts';
import type { LedgerSymbol } from '../../../ledger/symbols/symbols.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { shouldYield, yieldToRequests } from '../../../runtime/yield.ts';
import { symbolSeriesOf } from '../../formulas/formula-parts.ts';
import { namedFormulas } from '../../formulas/named-formulas.ts';
import type { Answer, JsonText, LargeAnswer } from '../../model/answer.ts';
import { ByteWriter, COMMA, type UnsentBody } from '../../model/byte-writer.ts';
import { type EndpointContext, priceEndpoint } from '../../model/endpoint.ts';
import type { LongTable } from '../../model/long-table.ts';
import { columnsOf, type FlatRow } from '../../model/table.ts';

const COLUMNS = columnsOf(
  'symbol category name currency currencyName currencySymbol unit unitName status updateInterval firstDate:date lastDate:date formula',
);

/** Writing more symbols than this takes over a millisecond, so it yields to other requests. */
const LARGE_FROM_SYMBOLS = 500;

/** GET /symbols: all symbols, sorted by code. */
export const symbols = priceEndpoint({
  name: 'symbols',
  path: '/symbols',
  requiredData: 'dates',

  read: ({ board: { catalog } }) => {
    const formulas = [...namedFormulas(catalog).values()];
    return { series: catalog.series, listed: sorted(catalog.series, formulas), hasNamedFormulas: true };
  },

  answer({ listed: series }, prices, context): Answer | Promise<Answer> {
    const isJson = context.format === 'json';
    if (!isJson && series.length > LARGE_FROM_SYMBOLS) return longAnswer(series, prices, context);
    const dated = series.map((one) => datesOf(one, prices));
    const content = isJson ? jsonOf(dated) : { columns: COLUMNS, rows: dated.map(cellsOf) };
    return { content, finality: 'open' };
  },

  large({ listed: series }, prices, context) {
    if (context.format !== 'json' || series.length <= LARGE_FROM_SYMBOLS) return undefined;
    return largeAnswer(series, prices, context);
  },

  build: (_, { dated }) => buildJson(dated),
});

/** By code. */
function sorted(series: readonly Series[], formulas: readonly Series[]): readonly Series[] {
  if (formulas.length === 0) return series;
  return [...series, ...formulas].sort((a, b) => (a.symbol.code < b.symbol.code ? -1 : 1));
}

/** A symbol, with the dates that the customer's plan can see. */
export interface DatedSymbol {
  symbol: LedgerSymbol;
  first: Day | undefined;
  last: Day | undefined;
}

interface LargeList extends LargeAnswer {
  dated: readonly DatedSymbol[];
}

export function datesOf(series: Series, prices: Prices): DatedSymbol {
  const { symbol } = series;
  const [first, last] = [prices.firstDay(series), prices.lastDay(series)];
  const isReversed = first !== undefined && last !== undefined && first > last;
  // The histories of a formula's symbols need not overlap.
  return isReversed ? { symbol, first: undefined, last: undefined } : { symbol, first, last };
}

/** The dates of many symbols, yielding to requests. Their prices may be evicted meanwhile. */
async function allDatesOf(
  series: readonly Series[],
  prices: Prices,
  { board, now }: EndpointContext,
): Promise<DatedSymbol[]> {
  const dated: DatedSymbol[] = [];
  for (const one of series) {
    if (shouldYield()) await yieldToRequests();
    const parts = symbolSeriesOf([{ code: '', series: one }]);
    if (parts.some((part) => !part.has('dates'))) await board.ready(parts, 'dates', now);
    dated.push(datesOf(one, prices));
  }
  return dated;
}

async function largeAnswer(
  series: readonly Series[],
  prices: Prices,
  context: EndpointContext,
): Promise<LargeList> {
  const dated = await allDatesOf(series, prices, context);
  return { state: await stateOf(dated), finality: 'open', dated };
}

function jsonOf(dated: readonly DatedSymbol[]): JsonText {
  return { json: `{"success":true,"symbols":[${dated.map(recordOf).join(',')}]}` };
}

async function buildJson(dated: readonly DatedSymbol[]): Promise<UnsentBody> {
  const writer = new ByteWriter(dated.length * RECORD_BYTES);
  writer.ascii('{"success":true,"symbols":[');
  for (const [i, one] of dated.entries()) {
    if (i > 0) writer.byte(COMMA);
    writer.text(recordOf(one));
    if (shouldYield()) await yieldToRequests();
  }
  writer.ascii(']}');
  return writer.finish();
}

/** About the length of a symbol in JSON. */
const RECORD_BYTES = 300;

/** Costs one unit, like the same list in JSON. */
async function longAnswer(
  series: readonly Series[],
  prices: Prices,
  context: EndpointContext,
): Promise<Answer> {
  const dated = await allDatesOf(series, prices, context);
  const table: LongTable = {
    columns: COLUMNS,
    state: await stateOf(dated),
    count: () => Promise.resolve(dated.length),
    pieces: () => rowPieces(dated),
    unitsOf: () => 1,
  };
  return { content: table, finality: 'open' };
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
  const { code, category, name, currency, unit, status, updateInterval, formula } = symbol;
  const record = { symbol: code, category, name, currency, unit, status, updateInterval, formula };
  const json = JSON.stringify(record).slice(0, -1);
  const part = { json, digest: BigInt.asIntN(64, BigInt(Bun.hash(json))) };
  staticParts.set(symbol, part);
  return part;
}

export function recordOf({ symbol, first, last }: DatedSymbol): string {
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
    symbol.formula,
  ];
}
