import type { Board } from '../../../board/board.ts';
import type { FrozenPrices, Prices } from '../../../board/views/prices.ts';
import type { DayRange } from '../../../ledger/prices/past.ts';
import type { Statistics } from '../../../market/analytics/statistics.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { printNumber } from '../../../market/decimal.ts';
import { refuse } from '../../errors/errors.ts';
import { correlate, type DescribedCloses, describeCloses, hasClose } from '../../history/describe-closes.ts';
import { finish, finishInTurns, type PriceReading } from '../../history/price-reading.ts';
import type { JsonText, LargeAnswer } from '../../model/answer.ts';
import { type EndpointContext, priceEndpoint } from '../../model/endpoint.ts';
import { freezeIfLarge, stateOfBars } from '../../model/large-answer.ts';
import type { LongTable } from '../../model/long-table.ts';
import type { RequestedSymbol } from '../../model/price-query.ts';
import { columnsOf, type FlatColumn, type FlatRow } from '../../model/table.ts';
import { finalityOf, readRange, readSymbolSet, spanDaysMax } from '../../params/parameters.ts';
import { type RatesQuery, readRates } from '../../params/rates-query.ts';
import { bySymbol, metadataStart, sourceNames, sourcesJson } from '../../response/json.ts';
import { noDataFrom } from './closes.ts';

/** The matrix of correlations grows with the square of the symbols, and the whole costs one unit. */
export const STATISTICS_SYMBOLS_MAX = 20;

const COLUMNS = columnsOf(
  'symbol startDate:date endDate:date count:integer last:number lastDate:date mean:number median:number standardDeviation:number volatility:number minimum:number minimumDate:date maximum:number maximumDate:date maximumDrawdown:number peakDate:date troughDate:date unit quote source',
);

/** GET /rates/statistics: statistics of the closes of each symbol in a range, and the correlations between symbols. */
export const statistics = priceEndpoint({
  name: 'statistics',
  path: '/rates/statistics',
  requiredData: 'all',

  read(context) {
    const { query, plan, dialect } = context;
    const symbolSet = readSymbolSet(query, plan);
    requireFew(symbolSet.codes.length);
    const { first, last } = readRange(
      query,
      plan.history ? Number.POSITIVE_INFINITY : spanDaysMax(plan, dialect),
    );
    return { ...readRates(context, symbolSet, { name: 'startDate', day: first }), first, last };
  },

  reads: (ratesQuery) => ({ ranges: [daysOf(ratesQuery)], lookBackDays: 0 }),

  answer(ratesQuery, prices, context) {
    const { symbols, first, last } = ratesQuery;
    const finality = finalityOf(last, symbols, context.now - prices.delayMs);
    const { format, board } = context;
    const frozen =
      format === 'json' ? undefined : freezeIfLarge(symbols, first, daysOf(ratesQuery).last, prices);
    if (frozen) return longTableOf(ratesQuery, frozen, board).then((content) => ({ content, finality }));
    requireCloses(finish(withoutClose(ratesQuery, prices)), ratesQuery, prices);
    const described = finish(describeAll(ratesQuery, prices));
    if (format !== 'json') {
      const rows = rowsOf(ratesQuery, described, prices, board);
      return { content: { columns: columnsFor(symbols), rows }, finality };
    }
    return { content: jsonOf(ratesQuery, described, prices, context), finality };
  },

  large(ratesQuery, prices, context) {
    const { symbols, first, last, metadata } = ratesQuery;
    const days = daysOf(ratesQuery);
    const frozen = context.format === 'json' ? freezeIfLarge(symbols, first, days.last, prices) : undefined;
    if (!frozen) return undefined;
    const finality = finalityOf(last, symbols, context.now - prices.delayMs);
    return requireComplete(ratesQuery, frozen).then(
      (): LargeStatistics => ({
        state: JSON.stringify(['statistics', first, last, metadata, stateOfBars(symbols, frozen, days)]),
        finality,
        frozen,
      }),
    );
  },

  async build(ratesQuery, { frozen }: LargeStatistics, context) {
    const described = await finishInTurns(describeAll(ratesQuery, frozen));
    return jsonOf(ratesQuery, described, frozen, context);
  },
});

interface StatisticsQuery extends RatesQuery {
  first: Day;
  last: Day;
}

interface LargeStatistics extends LargeAnswer {
  frozen: FrozenPrices;
}

function requireFew(received: number): void {
  if (received <= STATISTICS_SYMBOLS_MAX) return;
  throw refuse('too_many_symbols', { received, max: STATISTICS_SYMBOLS_MAX, path: '/rates/statistics' });
}

function daysOf({ first, last, today }: StatisticsQuery): DayRange {
  return { first, last: Math.min(last, today) };
}

/** Throws a refusal if a symbol of a snapshot has no close in the range, or a day that cannot be converted. */
async function requireComplete(ratesQuery: StatisticsQuery, prices: FrozenPrices): Promise<void> {
  requireCloses(await finishInTurns(withoutClose(ratesQuery, prices)), ratesQuery, prices);
  const { first, last } = daysOf(ratesQuery);
  for (const { series } of ratesQuery.symbols) prices.requireComplete(series, first, last);
}

/** The symbols without a close in the range. */
function* withoutClose(ratesQuery: StatisticsQuery, prices: Prices): PriceReading<RequestedSymbol[]> {
  const missing: RequestedSymbol[] = [];
  for (const requested of ratesQuery.symbols) {
    if (!(yield* hasClose(requested.series, prices, daysOf(ratesQuery)))) missing.push(requested);
  }
  return missing;
}

/** Throws a refusal that names every symbol without a close in the range. */
function requireCloses(
  missing: readonly RequestedSymbol[],
  ratesQuery: StatisticsQuery,
  prices: Prices,
): void {
  const { first, last } = daysOf(ratesQuery);
  if (missing.length === 0) return;
  throw refuse('no_data', {
    range: `${printDay(first)} to ${printDay(last)}`,
    missing: missing.map((requested) => noDataFrom(first, requested, prices)),
  });
}

/** The closes of a symbol, and their correlation with those of each symbol. */
interface DescribedSymbol extends DescribedCloses {
  correlations: readonly (number | undefined)[];
}

function* describeAll(ratesQuery: StatisticsQuery, prices: Prices): PriceReading<DescribedSymbol[]> {
  const described: DescribedCloses[] = [];
  for (const { series } of ratesQuery.symbols) {
    described.push(yield* describeCloses(series, prices, daysOf(ratesQuery)));
  }
  const matrix = yield* correlate(described);
  return described.map((one, i) => ({ ...one, correlations: matrix[i]! }));
}

function jsonOf(
  { symbols, first, last, metadata }: StatisticsQuery,
  described: readonly DescribedSymbol[],
  prices: Prices,
  { board }: EndpointContext,
): JsonText {
  const records = bySymbol(symbols, (_, i) => recordJson(described[i]!.statistics));
  const correlations = bySymbol(symbols, (_, row) => {
    const cells = symbols.flatMap(({ code }, column) => {
      const value = described[row]!.correlations[column];
      return value === undefined ? [] : [`${JSON.stringify(code)}:${printNumber(value)}`];
    });
    return `{${cells}}`;
  });
  const range = `"startDate":"${printDay(first)}","endDate":"${printDay(last)}"`;
  const json = `{"success":true,${range},"statistics":${records},"correlation":${correlations}`;
  if (!metadata) return { json: `${json}}` };
  const all = bySymbol(symbols, (requested, i) => {
    const source = sourcesJson(board, described[i]!.sourceIds);
    return `{${metadataStart(requested, prices.measure(requested.series))},"source":${source}}`;
  });
  return { json: `${json},"metadata":${all}}` };
}

/** A value that is not defined is left out. */
function recordJson(statistics: Statistics): string {
  const fields = Object.entries(fieldsOf(statistics)).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [`"${name}":${name.endsWith('Date') ? `"${value}"` : value}`];
  });
  return `{${fields}}`;
}

/** In the order of the columns. */
function fieldsOf({ count, last, drawdown, ...one }: Statistics): Record<string, string | undefined> {
  return {
    count: String(count),
    last: printNumber(last.value),
    lastDate: printDay(last.day),
    mean: printNumber(one.mean),
    median: printNumber(one.median),
    standardDeviation: optional(one.standardDeviation, printNumber),
    volatility: optional(one.volatility, printNumber),
    minimum: printNumber(one.minimum.value),
    minimumDate: printDay(one.minimum.day),
    maximum: printNumber(one.maximum.value),
    maximumDate: printDay(one.maximum.day),
    maximumDrawdown: printNumber(drawdown.size),
    peakDate: optional(drawdown.peakDay, printDay),
    troughDate: optional(drawdown.troughDay, printDay),
  };
}

function optional(value: number | undefined, print: (value: number) => string): string | undefined {
  return value === undefined ? undefined : print(value);
}

/** A row per symbol; its correlation with each symbol is a column. */
function columnsFor(symbols: readonly RequestedSymbol[]): FlatColumn[] {
  return [
    ...COLUMNS,
    ...symbols.map(({ code }) => ({ name: `correlation_${code}`, type: 'number' as const })),
  ];
}

async function longTableOf(
  ratesQuery: StatisticsQuery,
  frozen: FrozenPrices,
  board: Board,
): Promise<LongTable> {
  const { symbols, first, last } = ratesQuery;
  await requireComplete(ratesQuery, frozen);
  return {
    columns: columnsFor(symbols),
    state: JSON.stringify(['statistics', first, last, stateOfBars(symbols, frozen, daysOf(ratesQuery))]),
    count: async () => symbols.length,
    pieces: () => piecesOf(ratesQuery, frozen, board),
    unitsOf: () => 1,
  };
}

/** While it reads and correlates the closes, pieces are empty. */
function* piecesOf(ratesQuery: StatisticsQuery, prices: Prices, board: Board): Generator<readonly FlatRow[]> {
  const reading = describeAll(ratesQuery, prices);
  let step = reading.next();
  for (; !step.done; step = reading.next()) yield [];
  yield rowsOf(ratesQuery, step.value, prices, board);
}

function rowsOf(
  { symbols, first, last }: StatisticsQuery,
  described: readonly DescribedSymbol[],
  prices: Prices,
  board: Board,
): FlatRow[] {
  const range = [printDay(first), printDay(last)];
  return symbols.map(({ code, series }, i) => {
    const { unit, quote } = prices.measure(series);
    const { statistics: one, sourceIds, correlations } = described[i]!;
    const cells = correlations.map((value) => optional(value, printNumber));
    const source = sourceNames(board, sourceIds);
    return [code, ...range, ...Object.values(fieldsOf(one)), unit, quote, source, ...cells];
  });
}
