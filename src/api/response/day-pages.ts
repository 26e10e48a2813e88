import type { SettledRange } from '../../board/views/prices.ts';
import type { Day } from '../../market/day.ts';
import { copyText } from '../../runtime/bounded-cache.ts';
import { type TextPage, TextPageCache, TextPages } from '../../runtime/text-pages.ts';
import { ByteWriter } from '../model/byte-writer.ts';
import type { SymbolSet } from '../params/symbol-set.ts';
import { SettledLines, writeByDay } from './rate-lines.ts';

const DAYS_PER_PAGE = 32;

/** The days of several symbols as time series write them, by list of symbols. */
export const dayPageCache = new TextPageCache<string>();

/**
 * Writes the days from `first` to `last` if they are rendered. `settled` is where they lie in each symbol's history. Only
 * lists that are requested often have rendered days.
 */
export function writeRenderedDays(
  writer: ByteWriter,
  { list, codes }: SymbolSet,
  settled: readonly SettledRange[],
  first: Day,
  last: Day,
): boolean {
  const known = dayPageCache.get(list);
  if (!known && !dayPageCache.admits(list)) return false; // most lists are requested by one customer
  const pages = known ?? new TextPages(dayPageCache, copyText(list), DAYS_PER_PAGE);
  pages.requireVersions(settled.map(({ columns }) => columns.version));
  return pages.copyRows(first, last, writer, (number) => renderPage(number, codes, settled));
}

function renderPage(number: number, codes: readonly string[], settled: readonly SettledRange[]): TextPage {
  const first = number * DAYS_PER_PAGE;
  const lines = settled.map(({ columns }, i) => {
    const [from, to] = [columns.firstFrom(first), columns.firstFrom(first + DAYS_PER_PAGE)];
    return new SettledLines(codes[i]!, { columns, from, to });
  });
  const starts = new Uint32Array(DAYS_PER_PAGE + 1);
  let next = 0;
  const writer = new ByteWriter();
  writeByDay(writer, lines, (day) => {
    while (next <= day - first) starts[next++] = writer.length;
  });
  starts.fill(writer.length, next);
  return { bytes: writer.finishAsBytes(), starts };
}
