import type { Board } from '../../../board/board.ts';
import type { FrozenPrices, Prices } from '../../../board/views/prices.ts';
import type { DayRange } from '../../../ledger/prices/past.ts';
import { type Day, printDay } from '../../../market/day.ts';
import { intervalTable } from '../../history/interval-table.ts';
import {
  type BarsMetadata,
  expectedLength,
  findBars,
  lengthOfBars,
  metadataOf,
  writeRates,
  writeRatesInSlices,
} from '../../history/rates-by-day.ts';
import { NO_FIELDS } from '../../history/row-fields.ts';
import type { LargeAnswer } from '../../model/answer.ts';
import { ByteWriter, CLOSE, OPEN, type UnsentBody } from '../../model/byte-writer.ts';
import { type EndpointContext, priceEndpoint } from '../../model/endpoint.ts';
import { countBars, freezeIfLarge, stateOfBars } from '../../model/large-answer.ts';
import { finalityOf, readRange, readSymbolSet, spanDaysMax } from '../../params/parameters.ts';
import { type RatesQuery, readRates } from '../../params/rates-query.ts';
import { bySymbol, metadataStart, sourcesJson } from '../../response/json.ts';
import { rangeWarnings } from './closes.ts';

/** GET /rates/time-series: open, high, low and close of each day of a range that has a bar. */
export const timeSeries = priceEndpoint({
  name: 'time-series',
  path: '/rates/time-series',
  requiredData: 'all',

  read(context) {
    const { query, plan, dialect } = context;
    const symbolSet = readSymbolSet(query, plan);
    const { first, last } = readRange(query, spanDaysMax(plan, dialect), plan.history);
    return {
      ...readRates(context, symbolSet, { name: 'startDate', day: first }),
      first,
      last,
      lastDay: last,
    };
  },

  reads: ({ first, last, today }) => ({ ranges: [{ first, last: Math.min(last, today) }], lookBackDays: 0 }),

  answer(ratesQuery, prices, context) {
    const { symbols, last } = ratesQuery;
    const warnings = rangeWarnings(symbols, ratesQuery, prices);
    const content =
      context.format === 'json' ? jsonOf(ratesQuery, prices, context) : tableOf(ratesQuery, prices, context);
    return { content, finality: finalityOf(last, symbols, context.now - prices.delayMs), warnings };
  },

  large(ratesQuery, prices, context) {
    if (context.format !== 'json') return undefined;
    const { symbols, first } = ratesQuery;
    const frozen = freezeIfLarge(symbols, first, lastDayOf(ratesQuery), prices);
    return frozen && largeOf(ratesQuery, frozen, context);
  },

  async build(ratesQuery, { frozen }, { board }) {
    const { symbolSet, symbols, conversion } = ratesQuery;
    const bars = countBars(symbols, frozen, daysOf(ratesQuery));
    const writer = new ByteWriter(lengthOfBars(bars) + ENVELOPE_BYTES);
    const begin = openJson(writer, ratesQuery);
    const how = { symbolSet, isConverted: conversion !== undefined };
    const metadata = await writeRatesInSlices(writer, symbols, frozen, daysOf(ratesQuery), how);
    return closeJson(writer, begin, metadataOfAll(ratesQuery, metadata, frozen, board));
  },
});

interface TimeSeriesQuery extends RatesQuery {
  first: Day;
  last: Day;
}

interface LargeTimeSeries extends LargeAnswer {
  frozen: FrozenPrices;
}

function lastDayOf({ last, today }: TimeSeriesQuery): Day {
  return Math.min(last, today);
}

function daysOf(ratesQuery: TimeSeriesQuery): DayRange {
  return { first: ratesQuery.first, last: lastDayOf(ratesQuery) };
}

function jsonOf(ratesQuery: TimeSeriesQuery, prices: Prices, { board }: EndpointContext): UnsentBody {
  const { symbolSet, symbols } = ratesQuery;
  const days = daysOf(ratesQuery);
  const found = findBars(symbols, prices, days);
  const writer = new ByteWriter(expectedLength(found) + ENVELOPE_BYTES);
  const begin = openJson(writer, ratesQuery);
  writeRates(writer, symbols, found, days, symbolSet);
  return closeJson(writer, begin, metadataOfAll(ratesQuery, [found.map(metadataOf)], prices, board));
}

/** About the length of what is not a rate. */
const ENVELOPE_BYTES = 512;

/** It costs one unit regardless of its rows: the plan limits its span. */
function tableOf(ratesQuery: TimeSeriesQuery, prices: Prices, { board }: EndpointContext) {
  const { symbols, first } = ratesQuery;
  const span = { ...daysOf(ratesQuery), interval: 'day' } as const;
  return intervalTable({
    board,
    symbols,
    prices,
    span,
    from: { day: first, symbolIndex: 0 },
    fields: NO_FIELDS,
    unitsOf: () => 1,
  });
}

function largeOf(
  ratesQuery: TimeSeriesQuery,
  frozen: FrozenPrices,
  { now }: EndpointContext,
): LargeTimeSeries {
  const { symbols, first, last, metadata } = ratesQuery;
  const days = daysOf(ratesQuery);
  for (const { series } of symbols) frozen.requireComplete(series, first, days.last);
  return {
    state: JSON.stringify(['time-series', first, last, metadata, stateOfBars(symbols, frozen, days)]),
    finality: finalityOf(last, symbols, now - frozen.delayMs),
    warnings: rangeWarnings(symbols, { first, last }, frozen),
    frozen,
  };
}

/** Returns the offset at which the rates start. */
function openJson(writer: ByteWriter, { first, last }: TimeSeriesQuery): number {
  writer.ascii(`{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","rates":`);
  return writer.length;
}

/** Every day is written with a leading comma; the first one is overwritten with the opening brace. */
function closeJson(writer: ByteWriter, begin: number, metadata: string | undefined): UnsentBody {
  if (writer.length > begin) writer.overwrite(begin, OPEN);
  else writer.byte(OPEN);
  writer.byte(CLOSE);
  if (metadata !== undefined) writer.text(`,"metadata":${metadata}`);
  writer.byte(CLOSE);
  return writer.finish();
}

/** `parts` are consecutive spans of days, each with the metadata of every symbol. Undefined if the client wants none. */
function metadataOfAll(
  { symbols, metadata }: TimeSeriesQuery,
  parts: readonly (readonly BarsMetadata[])[],
  prices: Prices,
  board: Board,
): string | undefined {
  if (!metadata) return undefined;
  return bySymbol(symbols, (requested, i) => {
    const { sourceIds, factors } = parts.length === 1 ? parts[0]![i]! : joined(parts.map((part) => part[i]!));
    const factorsJson = factors === '' ? '' : `,"factors":{${factors}}`;
    return `{${metadataStart(requested, prices.measure(requested.series))}${factorsJson},"source":${sourcesJson(board, sourceIds)}}`;
  });
}

function joined(parts: readonly BarsMetadata[]): BarsMetadata {
  const factors = parts.map((part) => part.factors).filter((text) => text !== '');
  return { sourceIds: [...new Set(parts.flatMap((part) => part.sourceIds))], factors: factors.join(',') };
}
