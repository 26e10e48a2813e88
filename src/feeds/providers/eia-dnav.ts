import { type Day, dayOf } from '../../market/day.ts';
import { quote, readCell } from '../formats/cell.ts';
import type { Collector } from '../formats/collector.ts';
import { inRange, parsePlainDay } from '../formats/day.ts';
import { firstLine, isFootnote, readTable } from '../formats/table.ts';
import type { ProvidedSeries } from '../provider.ts';
import { wrongUnit } from './adapter/parsed.ts';

/**
 * The CSV that EIA's web pages offer, with one series each. Lines above the header name it, by the page's address:
 *
 *     Cushing OK WTI Spot Price FOB
 *     https://www.eia.gov/dnav/pet/hist/RWTCD.htm
 *     Source: U.S. Energy Information Administration
 *     Day,Cushing OK WTI Spot Price FOB  Dollars per Barrel
 *     08/16/2022,86.53
 */
export function readDnav(
  text: string,
  file: string,
  series: readonly ProvidedSeries[],
  collector: Collector,
): void {
  const table = readTable(text, (names) => names[0] === 'Day' && names.length === 2);
  const page = /\/hist\/(\w+)\.htm/i.exec(text.slice(0, 2_000))?.[1]?.toUpperCase();
  if (!table || !page)
    throw new Error(`no address and no line with Day; the text starts with ${quote(firstLine(text))}`);
  // The page's name is the series' id, and the letter of its frequency.
  const provided = series.find(({ id }) => `${id}D` === page);
  const label = /\b(dollars|cents) per .+$/i.exec(table.header[1]!)?.[0] ?? '';
  const mismatch = provided ? wrongUnit(provided, label) : undefined;
  if (!provided || mismatch) {
    collector.refuseSeries(page, file, mismatch ?? `${page} is not a daily series of this feed`);
    return;
  }
  for (const { line, cells } of table.rows) {
    if (isFootnote(cells)) continue;
    const where = `${file}line ${line}`;
    const day = parseUsDay(cells[0] ?? '') ?? parsePlainDay(cells[0] ?? '');
    const value = readCell(cells[1]);
    if (day === undefined) collector.refuse(where, `${quote(cells[0] ?? '')} is not a day`);
    else if (value === 'missing') collector.missing++;
    else if (value === undefined) collector.refuse(where, `${quote(cells[1] ?? '')} is not a number`);
    else collector.addValue(provided.id, day, value, where);
  }
}

/** `08/16/2022`: the month comes first. */
function parseUsDay(text: string): Day | undefined {
  const match = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text);
  return match ? inRange(dayOf(Number(match[3]), Number(match[1]), Number(match[2]))) : undefined;
}
