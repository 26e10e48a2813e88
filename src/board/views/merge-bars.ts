import type { Day } from '../../market/day.ts';
import type { Columns } from '../series/bars/columns.ts';
import type { SourcedBar } from '../series/price-types.ts';
import type { SettledRange } from './prices.ts';

/** Bars that can be read by index. */
interface IndexedBars {
  readonly length: number;
  firstFrom(day: Day): number;
  day(index: number): Day;
  bar(index: number): SourcedBar;
}

/** The bars of a history from `first` to `last`, ascending. On a day of `overlay`, its bar replaces the history's. */
export function mergeBars(
  history: IndexedBars,
  overlay: readonly SourcedBar[],
  first: Day,
  last: Day,
): SourcedBar[] {
  const unsettled = overlay.filter((bar) => bar.day >= first && bar.day <= last);
  const bars: SourcedBar[] = [];
  let next = 0;
  for (let i = history.firstFrom(first); i < history.length && history.day(i) <= last; i++) {
    const day = history.day(i);
    while (next < unsettled.length && unsettled[next]!.day < day) bars.push(unsettled[next++]!);
    bars.push(unsettled[next]?.day === day ? unsettled[next++]! : history.bar(i));
  }
  while (next < unsettled.length) bars.push(unsettled[next++]!);
  return bars;
}

/** The range of a history that holds the bars of some days; undefined if the overlay may have one of them. */
export function settledIn(
  columns: Columns,
  overlay: readonly SourcedBar[],
  first: Day,
  last: Day,
): SettledRange | undefined {
  if (overlay.length > 0 && overlay[0]!.day <= last) return undefined;
  const from = columns.firstFrom(first);
  let to = from;
  while (to < columns.length && columns.day(to) <= last) to++; // a linear scan: ranges are short
  return { columns, from, to };
}

/** The last bar of a history and its overlay on or before `day`, not before `earliest`. */
export function newestBar(
  history: IndexedBars,
  overlay: readonly SourcedBar[],
  day: Day,
  earliest: Day,
): SourcedBar | undefined {
  const unsettled = overlay.findLast((bar) => bar.day <= day);
  const index = history.firstFrom(day + 1) - 1;
  const found =
    index >= 0 && (!unsettled || history.day(index) > unsettled.day) ? history.bar(index) : unsettled;
  return found && found.day >= earliest ? found : undefined;
}
