import type { SourcedBar } from '../../board/series/price-types.ts';
import type { FrozenPrices, Prices, SettledRange } from '../../board/views/prices.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import { printDay } from '../../market/day.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { ByteWriter } from '../model/byte-writer.ts';
import { FORMULA_DAYS_PER_STEP } from '../model/large-answer.ts';
import { hasFormulas, type RequestedSymbol } from '../model/price-query.ts';
import type { SymbolSet } from '../params/symbol-set.ts';
import { writeRenderedDays } from '../response/day-pages.ts';
import { sourceIdsOf } from '../response/json.ts';
import { BarLines, SettledLines, writeByDay } from '../response/rate-lines.ts';

/** The bars of one symbol: a range of its settled history, or the bars themselves. */
type SymbolBars = SettledRange | SourcedBar[];

/** The metadata of some bars of one symbol. */
export interface BarsMetadata {
  sourceIds: readonly number[];
  /** `"2024-05-14":0.92,…`: the conversion factor of each day. Empty if nothing is converted. */
  factors: string;
}

/** Finds the bars of each symbol. */
export function findBars(
  symbols: readonly RequestedSymbol[],
  prices: Prices,
  { first, last }: DayRange,
): SymbolBars[] {
  return symbols.map(
    ({ series }) => prices.settled?.(series, first, last) ?? prices.bars(series, first, last),
  );
}

/** About the length of a bar and of its share of a day in JSON. */
const BAR_BYTES = 96;

/** About how many bytes `writeRates` writes for these bars. */
export function expectedLength(found: readonly SymbolBars[]): number {
  let bars = 0;
  for (const one of found) bars += Array.isArray(one) ? one.length : one.to - one.from;
  return lengthOfBars(bars);
}

/** About how many bytes this number of bars takes. */
export function lengthOfBars(count: number): number {
  return count * BAR_BYTES;
}

/**
 * Writes the rates of each day: `,"2024-05-14":{"XAU":{…}}`. If all of them are settled, a symbol set that was requested
 * before has them cached.
 */
export function writeRates(
  writer: ByteWriter,
  symbols: readonly RequestedSymbol[],
  found: readonly SymbolBars[],
  { first, last }: DayRange,
  symbolSet?: SymbolSet,
): void {
  const settled = found.filter((one): one is SettledRange => !Array.isArray(one));
  const isCached =
    symbolSet !== undefined &&
    settled.length === found.length &&
    writeRenderedDays(writer, symbolSet, settled, first, last);
  if (isCached) return;
  const lines = found.map((one, i) => {
    const { code } = symbols[i]!;
    return Array.isArray(one) ? new BarLines(code, one) : new SettledLines(code, one);
  });
  writeByDay(writer, lines);
}

export function metadataOf(bars: SymbolBars): BarsMetadata {
  if (!Array.isArray(bars)) {
    return { sourceIds: bars.columns.sources(bars.from, bars.to), factors: '' };
  }
  const factors = bars[0]?.factor
    ? bars.map(({ day, factor }) => `"${printDay(day)}":${factor!.text}`).join(',')
    : '';
  return { sourceIds: sourceIdsOf(bars), factors };
}

/** Bars per slice: about 3 ms of work. */
const BARS_PER_SLICE = 3_200;
const CONVERTED_BARS_PER_SLICE = 1_000;

function barsPerSlice(symbols: readonly RequestedSymbol[], isConverted: boolean): number {
  if (hasFormulas(symbols)) return FORMULA_DAYS_PER_STEP;
  return isConverted ? CONVERTED_BARS_PER_SLICE : BARS_PER_SLICE;
}

/** Writes the rates of many days in slices, yielding to requests between them. Returns the metadata of each slice. */
export async function writeRatesInSlices(
  writer: ByteWriter,
  symbols: readonly RequestedSymbol[],
  prices: FrozenPrices,
  { first, last }: DayRange,
  { symbolSet, isConverted }: { symbolSet: SymbolSet; isConverted: boolean },
): Promise<BarsMetadata[][]> {
  const metadata: BarsMetadata[][] = [];
  const days = Math.max(1, Math.floor(barsPerSlice(symbols, isConverted) / symbols.length));
  const isWhole = first + days > last;
  for (let start = first; start <= last; start += days) {
    if (shouldYield()) await yieldToRequests();
    const slice = { first: start, last: Math.min(last, start + days - 1) };
    const found = findBars(symbols, prices, slice);
    // The cache admits a page on its second request. Slices of one request must not count as several.
    writeRates(writer, symbols, found, slice, isWhole ? symbolSet : undefined);
    metadata.push(found.map(metadataOf)); // now: the history may change before the next slice
  }
  return metadata;
}
