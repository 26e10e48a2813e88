import type { FrozenPrices, Prices, SettledRange } from '../../board/prices.ts';
import type { SourcedBar } from '../../board/series/columns.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import { printDay } from '../../market/day.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { AskedSymbol, Basket } from '../params/symbol-set.ts';
import { Sheet } from '../response/byte-writer.ts';
import { sourceIdsOfAll } from '../response/json.ts';
import { BarLines, SettledLines, writeByDay } from '../response/rate-lines.ts';

/** The bars of a symbol: where they lie in the history, or themselves. */
type Found = SettledRange | SourcedBar[];

/** What the metadata of a symbol says of some of its bars. */
export interface Described {
  sourceIds: readonly number[];
  /** `"2024-05-14":0.92,…`: each day has its own exchange rate, and so its own factor. Empty where nothing is converted. */
  factors: string;
}

/**
 * Writes the rates of each day: `,"2024-05-14":{"XAU":{…}}`. Where all lie in the history, a cached basket has them
 * ready if it was asked for before.
 */
export function writeRates(
  sheet: Sheet,
  symbols: readonly AskedSymbol[],
  prices: Prices,
  { first, last }: DayRange,
  basket?: Basket,
): Found[] {
  const found = symbols.map(
    ({ series }): Found => prices.settled?.(series, first, last) ?? prices.bars(series, first, last),
  );
  const settled = found.filter((one): one is SettledRange => !Array.isArray(one));
  const isReady =
    settled.length === found.length && basket?.lines?.write(sheet, basket.codes, settled, first, last);
  if (!isReady) {
    const lines = found.map((one, i) => {
      const { code } = symbols[i]!;
      return Array.isArray(one) ? new BarLines(code, one) : new SettledLines(code, one);
    });
    writeByDay(sheet, lines);
  }
  return found;
}

export function describe(found: Found): Described {
  if (!Array.isArray(found)) {
    return { sourceIds: found.columns.sources(found.from, found.to), factors: '' };
  }
  const factors = found[0]?.factor
    ? found.map(({ day, factor }) => `"${printDay(day)}":${factor!.text}`).join(',')
    : '';
  return { sourceIds: sourceIdsOfAll(found), factors };
}

/** How many bars are written in one go: about 3 ms. */
const BARS_PER_SLICE = 3_200;
const CONVERTED_BARS_PER_SLICE = 1_000;

/** Writes the rates of many days a slice at a time, yielding to requests. */
export async function buildRates(
  symbols: readonly AskedSymbol[],
  prices: FrozenPrices,
  { first, last }: DayRange,
  { basket, isConverted }: { basket: Basket; isConverted: boolean },
): Promise<{ bytes: Uint8Array; described: Described[][] }> {
  const sheet = new Sheet();
  const described: Described[][] = [];
  const barsPerSlice = isConverted ? CONVERTED_BARS_PER_SLICE : BARS_PER_SLICE;
  const days = Math.max(1, Math.floor(barsPerSlice / symbols.length));
  const isWhole = first + days > last;
  for (let start = first; start <= last; start += days) {
    if (shouldYield()) await yieldToRequests();
    const slice = { first: start, last: Math.min(last, start + days - 1) };
    // A cached basket keeps pages that are asked for twice: slices of one request must not count as that.
    const found = writeRates(sheet, symbols, prices, slice, isWhole ? basket : undefined);
    described.push(found.map(describe)); // at once: the history may change before the next slice
  }
  return { bytes: sheet.bytes(), described };
}
