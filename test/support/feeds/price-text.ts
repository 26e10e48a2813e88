import type { CsvColumns } from '../../../src/feeds/csv/columns.ts';
import { RowSplitter } from '../../../src/feeds/csv/row-splitter.ts';
import type { ByteSource } from '../../../src/feeds/import/bytes.ts';
import { type Conventions, ConventionsFinder, RowReader } from '../../../src/feeds/import/row-reader.ts';
import { findTextLayout } from '../../../src/feeds/import/text-table.ts';
import { type Day, LAST_DAY, MS_PER_DAY } from '../../../src/market/day.ts';
import { marketOf } from '../../../src/market/session.ts';

const CHUNK_BYTES = 7;

/** A text as a file that is read in small chunks. */
export function textFile(text: string): ByteSource {
  const bytes = new TextEncoder().encode(text);
  return {
    async *chunks() {
      for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
    },
  };
}

/** The rows of a text without any I/O, for fuzzing: the first bar of each symbol and day, ascending. */
export function readPriceText(
  text: string,
  { columns = {}, zone, ...given }: { columns?: CsvColumns; zone?: string } & Partial<Conventions> = {},
) {
  const layout = findTextLayout(text, columns);
  const splitter = new RowSplitter(layout.delimiter, layout.firstLine);
  const rows = [...splitter.push(text.slice(layout.start)), ...splitter.end()];
  const finder = new ConventionsFinder(layout.columns, given, layout.delimiter);
  for (const row of rows) finder.add(row);
  const symbolOf = (code: string) => ({ number: 0, code, currency: 'USD', market: marketOf('SPOT') });
  const reader = new RowReader({ ...layout, now: LAST_DAY * MS_PER_DAY, zone, symbolOf }, finder.conventions);
  const bars = new Map<
    string,
    { symbol: string; day: Day; open: number; high: number; low: number; close: number }
  >();
  for (const row of rows) {
    const result = reader.read(row);
    if (result?.kind !== 'bar') continue;
    const { symbol, day, prices } = result;
    const [open, high = open, low = open, close = open] = prices as [number, ...number[]];
    bars.getOrInsertComputed(`${symbol.code} ${day}`, () => ({
      symbol: symbol.code,
      day,
      open,
      high,
      low,
      close,
    }));
  }
  const sorted = [...bars.values()].sort((a, b) => a.day - b.day);
  return { bars: [...Map.groupBy(sorted, ({ symbol }) => symbol).values()].flat() };
}
