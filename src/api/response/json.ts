/** JSON of answers, assembled from prepared pieces. */

import type { Board } from '../../board/board.ts';
import type { Factor, Measure, SourcedBar } from '../../board/series/price-types.ts';
import { redactKeys } from '../../gate/key.ts';
import type { Bar, Ohlc } from '../../market/bar.ts';
import { printDay } from '../../market/day.ts';
import { printNumber } from '../../market/decimal.ts';
import { BoundedCache, textBytes } from '../../runtime/bounded-cache.ts';
import type { RequestedSymbol, UnresolvedSymbols } from '../model/price-query.ts';

/** What may be added to any answer. */
interface Additions {
  unresolved: UnresolvedSymbols | undefined;
  warnings: readonly string[];
}

/** The members `unresolved` and `warnings`, each with a leading comma, or nothing. */
export function addedMembers({ unresolved, warnings }: Additions, more: readonly string[] = []): string {
  let members = '';
  if (unresolved) members += `,"unresolved":${JSON.stringify(unresolved)}`;
  if (warnings.length + more.length > 0) members += `,"warnings":${JSON.stringify([...warnings, ...more])}`;
  return redactKeys(members);
}

/** `"XAU":{"open":…}`, under the code of the request. Known codes are ASCII and need no escaping. */
export function rateJson(code: string, bar: Ohlc): string {
  return `"${code}":${ohlcJson(bar)}`;
}

/** The same with the day that the record is from. */
export function datedRateJson(code: string, bar: Bar): string {
  return `${rateJson(code, bar).slice(0, -1)},"date":"${printDay(bar.day)}"}`;
}

export function ohlcJson(bar: Ohlc): string {
  return `{"open":${printNumber(bar.open)},"high":${printNumber(bar.high)},"low":${printNumber(bar.low)},"close":${printNumber(bar.close)}}`;
}

/** `"XAU":value` for each symbol, under the code of the request. Known codes need no escaping. */
export function bySymbol(
  symbols: readonly RequestedSymbol[],
  value: (requested: RequestedSymbol, index: number) => string,
): string {
  let json = '{';
  for (let i = 0; i < symbols.length; i++) {
    if (i > 0) json += ',';
    json += `"${symbols[i]!.code}":${value(symbols[i]!, i)}`;
  }
  return `${json}}`;
}

/** The start of a metadata record: the symbol that an alias stands for, unit, currency, and the factor of the conversion. */
export function metadataStart(requested: RequestedSymbol, measure: Measure, factor?: Factor): string {
  return aliasMember(requested) + measureJson(measure, factor);
}

/** The symbol that an alias stands for; empty for any other code. */
export function aliasMember({ code, series }: RequestedSymbol): string {
  const own = series.symbol.code;
  return own === code ? '' : `"symbol":"${own}",`;
}

/** Unit, currency, and the factor of the conversion. */
export function measureJson({ unit, quote }: Measure, factor?: Factor): string {
  const json = `"unit":${quoted(unit)},"quote":${quoted(quote)}`;
  return factor ? `${json},"factor":${factor.text}` : json;
}

/** Until the service sets its own limit. */
const QUOTED_BYTES_MAX_DEFAULT = 1024 * 1024;

/** Quoted JSON strings. There are few units, currencies and sources, and they recur. */
export const quotedCache = new BoundedCache<string, string>({ bytesMax: QUOTED_BYTES_MAX_DEFAULT });

function quoted(text: string): string {
  const known = quotedCache.get(text);
  if (known !== undefined) return known;
  const json = JSON.stringify(text);
  quotedCache.set(text, json, textBytes(json));
  return json;
}

/** The cells of four prices. */
export function ohlcCells({ open, high, low, close }: Ohlc): string[] {
  return [printNumber(open), printNumber(high), printNumber(low), printNumber(close)];
}

/** The cells for unit, quote and factor, which is 1 if nothing was converted. */
export function measureCells({ unit, quote }: Measure, factor: Factor | undefined): string[] {
  return [unit, quote, factor?.text ?? '1'];
}

/** The fields that identify the sources of a price. */
type Sourced = Pick<SourcedBar, 'sourceId' | 'otherSourceIds' | 'factor'>;

/** The ids of the sources of some prices, each once. Includes the sources of exchange rates. */
export function sourceIdsOf(prices: readonly Sourced[], factors?: readonly Factor[]): number[] {
  const ids: number[] = [];
  for (let i = 0; i < prices.length; i++) {
    const { sourceId, otherSourceIds, factor: own } = prices[i]!;
    addOnce(ids, sourceId);
    if (otherSourceIds) for (const id of otherSourceIds) addOnce(ids, id);
    const factor = factors ? factors[i] : own;
    if (factor) for (const id of factor.sourceIds) addOnce(ids, id);
  }
  return ids;
}

/** Checks the last one first: neighbouring bars mostly have the same source. */
function addOnce(ids: number[], id: number): void {
  if (ids.at(-1) !== id && !ids.includes(id)) ids.push(id);
}

export function sourcesJson(board: Board, sourceIds: readonly number[]): string {
  return quoted(sourceNames(board, sourceIds));
}

/** The names of different sources. */
export function sourceNames(board: Board, sourceIds: readonly number[]): string {
  if (sourceIds.length === 1) return board.sourceName(sourceIds[0]!);
  return sourceIds.length > 0 ? sourceIds.map((id) => board.sourceName(id)).join(', ') : 'none';
}
