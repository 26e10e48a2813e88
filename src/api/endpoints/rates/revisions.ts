import type { Board } from '../../../board/board.ts';
import type { PastVersions } from '../../../board/past/versions.ts';
import type { Prices } from '../../../board/views/prices.ts';
import type { DayRange } from '../../../ledger/prices/past.ts';
import type { SymbolRevision } from '../../../ledger/prices/revision-store.ts';
import { printDay } from '../../../market/day.ts';
import { symbolSeriesOf } from '../../formulas/formula-parts.ts';
import type { JsonText } from '../../model/answer.ts';
import { type EndpointContext, priceEndpoint } from '../../model/endpoint.ts';
import type { PriceQuery, RequestedSymbol } from '../../model/price-query.ts';
import { columnsOf, type FlatTable } from '../../model/table.ts';
import { printCursor, readCursor } from '../../params/cursor.ts';
import {
  canBePartial,
  findSymbols,
  isOff,
  readDay,
  readRange,
  readSymbolSet,
  singleUnlessEmpty,
  spanDaysMax,
} from '../../params/parameters.ts';
import { bySymbol, metadataStart, ohlcCells, ohlcJson } from '../../response/json.ts';
import { extentWarnings } from './closes.ts';

const COLUMNS = columnsOf(
  'date:date symbol revision:integer open:number high:number low:number close:number unit quote source recordedAt:time reason withdrawn:boolean',
);

/** The price cells of a withdrawn version. */
const NO_PRICES = [undefined, undefined, undefined, undefined];

/** Versions per page of a range. */
const VERSIONS_MAX = 2_000;

/** A version of one symbol's day. `symbolIndex` is its position in the request. */
interface Version extends SymbolRevision {
  symbolIndex: number;
}

/**
 * GET /rates/revisions: all versions of one day's bar, oldest first or, for a range, the versions of each day that has
 * more than one. A withdrawal is a version without prices.
 */
export const revisions = priceEndpoint({
  name: 'revisions',
  path: '/rates/revisions',
  requiredData: 'nothing',
  readsLedger: true,

  read(context) {
    const { query, plan, board, now } = context;
    const symbolSet = readSymbolSet(query, plan);
    const days = readDays(context);
    const metadata = !isOff(query, 'metadata');
    const cursorScope = `${symbolSet.codes} ${days.first} ${days.last}`;
    const cursor = days.isRange ? readCursor(query, cursorScope) : undefined;
    const from = Math.max(days.first, cursor?.day ?? days.first); // a forged cursor may start earlier
    const day = { name: days.name, day: days.first };
    const found = findSymbols(symbolSet, board, now, { day, canBePartial: canBePartial(context) });
    const { symbols, unresolved } = found;
    const series = symbolSeriesOf(symbols);
    return { symbols, series, days, from, cursorScope, metadata, unresolved };
  },

  async answer(revisionsQuery, prices, { board, past, format }) {
    const { symbols, days, from, cursorScope } = revisionsQuery;
    const stored = await past!.versions();
    const { versions: found, readTo } = days.isRange
      ? await stored.ofRange({ first: from, last: days.last }, VERSIONS_MAX)
      : { versions: await stored.ofDay(days.first), readTo: days.last };
    const versions = placed(symbols, found);
    versions.sort((a, b) => a.day - b.day || a.symbolIndex - b.symbolIndex || a.revision - b.revision);
    const next =
      readTo < days.last ? printCursor({ day: readTo + 1, symbolIndex: 0 }, cursorScope) : undefined;
    return {
      content:
        format === 'json'
          ? jsonOf(revisionsQuery, versions, next, prices, board)
          : tableOf(revisionsQuery, versions, prices, board),
      finality: 'open', // clients look here for corrections, which may arrive at any time
      next,
      warnings: warningsOf(revisionsQuery, versions, stored),
    };
  },
});

interface RevisionsQuery extends PriceQuery {
  symbols: readonly RequestedSymbol[];
  days: RequestedDays;
  metadata: boolean;
}

interface RequestedDays extends DayRange {
  isRange: boolean;
  /** The parameter that names the first day. */
  name: string;
}

/** A withdrawn day is outside of the history, but has versions. */
function warningsOf(
  { symbols, days }: RevisionsQuery,
  versions: readonly Version[],
  stored: PastVersions,
): string[] {
  const found = new Set(versions.map(({ symbolIndex }) => symbolIndex));
  const others = symbols.filter((_, i) => !found.has(i));
  const requested = { ...days, name: days.isRange ? ('range' as const) : ('day' as const) };
  return extentWarnings(others, requested, (series) => ({
    first: stored.firstDay(series),
    last: stored.lastDay(series),
  }));
}

function jsonOf(
  { symbols, days, metadata }: RevisionsQuery,
  versions: readonly Version[],
  next: string | undefined,
  prices: Prices,
  board: Board,
): JsonText {
  let json = days.isRange
    ? `{"success":true,"startDate":"${printDay(days.first)}","endDate":"${printDay(days.last)}","rates":${byDayJson(board, symbols, versions)},"next":${JSON.stringify(next ?? null)}`
    : `{"success":true,"date":"${printDay(days.first)}","rates":${bySymbol(symbols, (_, symbolIndex) => listJson(board, versions, symbolIndex))}`;
  if (metadata) {
    json += `,"metadata":${bySymbol(symbols, (requested) => `{${metadataStart(requested, prices.measure(requested.series))}}`)}`;
  }
  return { json: `${json}}` };
}

function tableOf(
  { symbols }: RevisionsQuery,
  versions: readonly Version[],
  prices: Prices,
  board: Board,
): FlatTable {
  const rows = versions.map((bar) => {
    const { code, series } = symbols[bar.symbolIndex]!;
    const { unit, quote } = prices.measure(series);
    const source = board.sourceName(bar.sourceId);
    const tail = [unit, quote, source, recordedAt(bar), bar.reason ?? undefined];
    const ohlc = bar.withdrawn ? NO_PRICES : ohlcCells(bar);
    return [printDay(bar.day), code, String(bar.revision), ...ohlc, ...tail, String(!!bar.withdrawn)];
  });
  return { columns: COLUMNS, rows };
}

/** Reads `date`, or `startDate` and `endDate`. A plan with long history has no limit on the span. */
function readDays({ query, plan, dialect }: EndpointContext): RequestedDays {
  const hasDate = singleUnlessEmpty(query, 'date') !== undefined;
  const isRange = !hasDate && (query.has('startDate') || query.has('endDate'));
  if (isRange) {
    const span = readRange(query, plan.history ? Number.POSITIVE_INFINITY : spanDaysMax(plan, dialect));
    return { isRange, name: 'startDate', ...span };
  }
  const day = readDay(query, 'date');
  query.supersede(['startDate', 'endDate', 'cursor'], 'date');
  return { isRange, name: 'date', first: day, last: day };
}

/** Assigns the versions of a symbol to each code under which it was requested. */
function placed(symbols: readonly RequestedSymbol[], found: readonly SymbolRevision[]): Version[] {
  const bySymbol = Map.groupBy(found, (bar) => bar.symbolId);
  return symbols.flatMap(({ series }, symbolIndex) =>
    (bySymbol.get(series.symbol.id) ?? []).map((bar) => ({ ...bar, symbolIndex })),
  );
}

/** `"2024-05-08":{"XAU":[…]}` for each day, with only the symbols that have versions of that day. */
function byDayJson(board: Board, symbols: readonly RequestedSymbol[], versions: readonly Version[]): string {
  const days = [...Map.groupBy(versions, (bar) => bar.day)].map(([day, ofDay]) => {
    const symbolIndexes = [...new Set(ofDay.map((bar) => bar.symbolIndex))];
    const own = symbolIndexes.map(
      (symbolIndex) => `${JSON.stringify(symbols[symbolIndex]!.code)}:${listJson(board, ofDay, symbolIndex)}`,
    );
    return `"${printDay(day)}":{${own}}`;
  });
  return `{${days}}`;
}

function listJson(board: Board, versions: readonly Version[], symbolIndex: number): string {
  const records = versions
    .filter((bar) => bar.symbolIndex === symbolIndex)
    .map((bar) => {
      const source = JSON.stringify(board.sourceName(bar.sourceId));
      const start = bar.withdrawn ? '{"withdrawn":true' : ohlcJson(bar).slice(0, -1);
      return `${start},"source":${source},"recordedAt":"${recordedAt(bar)}","reason":${JSON.stringify(bar.reason)},"revision":${bar.revision}}`;
    });
  return `[${records}]`;
}

function recordedAt(bar: SymbolRevision): string {
  return new Date(bar.recordedAt).toISOString();
}
