import type { Day } from '../../market/day.ts';
import type { Columns } from '../series/columns.ts';
import type { SourcedBar } from '../series/price-types.ts';
import type { SettledRange } from './prices.ts';

/** A history that can be read by index. */
interface History {
  readonly length: number;
  firstFrom(day: Day): number;
  day(index: number): Day;
  bar(index: number): SourcedBar;
}

/** The bars of a history from `first` to `last`, ascending. On a day of `overlay`, its bar replaces the history's. */
export function mergeBars(
  history: History,
  overlay: readonly SourcedBar[],
  first: Day,
  last: Day,
): SourcedBar[] {
  const young = overlay.filter((bar) => bar.day >= first && bar.day <= last);
  const bars: SourcedBar[] = [];
  let next = 0;
  for (let i = history.firstFrom(first); i < history.length && history.day(i) <= last; i++) {
    const day = history.day(i);
    while (next < young.length && young[next]!.day < day) bars.push(young[next++]!);
    bars.push(young[next]?.day === day ? young[next++]! : history.bar(i));
  }
  while (next < young.length) bars.push(young[next++]!);
  return bars;
}

/** Where the bars of some days lie in a history; undefined when its overlay may have one of them. */
export function settledIn(
  columns: Columns,
  overlay: readonly SourcedBar[],
  first: Day,
  last: Day,
): SettledRange | undefined {
  if (overlay.length > 0 && overlay[0]!.day <= last) return undefined;
  const from = columns.firstFrom(first);
  let to = from;
  while (to < columns.length && columns.day(to) <= last) to++; // a month's days lie side by side
  return { columns, from, to };
}

/** The last bar of a history and its overlay on or before `day`, not before `earliest`. */
export function newestBar(
  history: History,
  overlay: readonly SourcedBar[],
  day: Day,
  earliest: Day,
): SourcedBar | undefined {
  const young = overlay.findLast((bar) => bar.day <= day);
  const index = history.firstFrom(day + 1) - 1;
  const found = index >= 0 && (!young || history.day(index) > young.day) ? history.bar(index) : young;
  return found && found.day >= earliest ? found : undefined;
}
