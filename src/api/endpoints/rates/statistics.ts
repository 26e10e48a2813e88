import type { Board } from '../../../board/board.ts';
import type { FrozenPrices, Prices } from '../../../board/views/prices.ts';
import type { DayRange } from '../../../ledger/prices/past.ts';
import { type CloseSeries, correlation, type Statistics } from '../../../market/analytics/statistics.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { printNumber } from '../../../market/decimal.ts';
import { shouldYield, yieldToRequests } from '../../../runtime/yield.ts';
import { refuse } from '../../errors/errors.ts';
import { type DescribedCloses, describeCloses } from '../../history/describe-closes.ts';
import type { JsonText, LargeAnswer } from '../../model/answer.ts';
import { type EndpointContext, priceEndpoint } from '../../model/endpoint.ts';
import { freezeIfLarge, stateOfBars } from '../../model/large-answer.ts';
import type { LongTable } from '../../model/long-table.ts';
import { columnsOf, type FlatColumn, type FlatRow, type FlatTable } from '../../model/table.ts';
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
    const { symbols, last } = ratesQuery;
    requireCloses(ratesQuery, prices);
    const finality = finalityOf(last, symbols, context.now - prices.delayMs);
    if (context.format !== 'json') return { content: tableOf(ratesQuery, prices, context), finality };
    const described = symbols.map(({ series }) => describeCloses(series, prices, daysOf(ratesQuery)));
    const matrix = [...correlationRows(described)];
    return { content: jsonOf(ratesQuery, described, matrix, prices, context), finality };
  },

  large(ratesQuery, prices, context) {
    const { symbols, first, last, metadata } = ratesQuery;
    const days = daysOf(ratesQuery);
    const frozen = context.format === 'json' ? freezeIfLarge(symbols, first, days.last, prices) : undefined;
    if (!frozen) return undefined;
    requireCloses(ratesQuery, prices);
    requireComplete(ratesQuery, frozen);
    const large: LargeStatistics = {
      state: JSON.stringify(['statistics', first, last, metadata, stateOfBars(symbols, frozen, days)]),
      finality: finalityOf(last, symbols, context.now - prices.delayMs),
      frozen,
    };
    return large;
  },

  async build(ratesQuery, { frozen }: LargeStatistics, context) {
    const described: DescribedCloses[] = [];
    for (const { series } of ratesQuery.symbols) {
      if (shouldYield()) await yieldToRequests();
      described.push(describeCloses(series, frozen, daysOf(ratesQuery)));
    }
    const matrix: Correlations[] = [];
    for (const row of correlationRows(described)) {
      matrix.push(row);
      if (shouldYield()) await yieldToRequests();
    }
    return jsonOf(ratesQuery, described, matrix, frozen, context);
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

/** A snapshot of which every day can be converted. */
function requireComplete(ratesQuery: StatisticsQuery, prices: FrozenPrices): void {
  const { first, last } = daysOf(ratesQuery);
  for (const { series } of ratesQuery.symbols) prices.requireComplete(series, first, last);
}

/** Throws a refusal that names every symbol without a close in the range. */
function requireCloses(ratesQuery: StatisticsQuery, prices: Prices): void {
  const { first, last } = daysOf(ratesQuery);
  const missing = ratesQuery.symbols.filter(({ series }) => !prices.barOnOrBefore(series, last, first));
  if (missing.length === 0) return;
  throw refuse('no_data', {
    range: `${printDay(first)} to ${printDay(last)}`,
    missing: missing.map((requested) => noDataFrom(first, requested, prices)),
  });
}

function jsonOf(
  { symbols, first, last, metadata }: StatisticsQuery,
  described: readonly DescribedCloses[],
  matrix: readonly Correlations[],
  prices: Prices,
  { board }: EndpointContext,
): JsonText {
  const records = bySymbol(symbols, (_, i) => recordJson(described[i]!.statistics));
  const correlations = bySymbol(symbols, (_, row) => {
    const cells = symbols.flatMap(({ code }, column) => {
      const value = matrix[row]![column];
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

/** The correlations of one symbol with every symbol. */
type Correlations = (number | undefined)[];

/** The rows of the matrix. It is symmetric, so each pair is computed once. */
function* correlationRows(described: readonly DescribedCloses[]): Generator<Correlations> {
  const rows: Correlations[] = [];
  for (const [i, { closes }] of described.entries()) {
    const row = described.map((other, j) => (j < i ? rows[j]![i] : correlation(closes, other.closes)));
    rows.push(row);
    yield row;
  }
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
function tableOf(
  ratesQuery: StatisticsQuery,
  prices: Prices,
  context: EndpointContext,
): FlatTable | LongTable {
  const { symbols, first } = ratesQuery;
  const days = daysOf(ratesQuery);
  const correlations: FlatColumn[] = symbols.map(({ code }) => ({
    name: `correlation_${code}`,
    type: 'number',
  }));
  const columns = [...COLUMNS, ...correlations];
  const frozen = freezeIfLarge(symbols, first, days.last, prices);
  if (!frozen) return { columns, rows: [...rowsOf(ratesQuery, prices, context.board)] };
  requireComplete(ratesQuery, frozen);
  return {
    columns,
    state: JSON.stringify(['statistics', first, ratesQuery.last, stateOfBars(symbols, frozen, days)]),
    count: async () => symbols.length,
    pieces: () => rowsOf(ratesQuery, frozen, context.board).map((row) => [row]),
    unitsOf: () => 1,
  };
}

function* rowsOf(ratesQuery: StatisticsQuery, prices: Prices, board: Board): Generator<FlatRow> {
  const { symbols, first, last } = ratesQuery;
  const range = [printDay(first), printDay(last)];
  const described: DescribedCloses[] = [];
  const closesOf = (i: number): CloseSeries => {
    described[i] ??= describeCloses(symbols[i]!.series, prices, daysOf(ratesQuery));
    return described[i].closes;
  };
  for (const [i, { code, series }] of symbols.entries()) {
    const own = closesOf(i);
    const { unit, quote } = prices.measure(series);
    const { statistics: one, sourceIds } = described[i]!;
    const cells = symbols.map((_, j) => optional(correlation(own, closesOf(j)), printNumber));
    const source = sourceNames(board, sourceIds);
    yield [code, ...range, ...Object.values(fieldsOf(one)), unit, quote, source, ...cells];
  }
}
