import { printDay } from '../../market/day.ts';
import { textOf } from '../formats/body.ts';
import { quote, readCell } from '../formats/cell.ts';
import { Collector } from '../formats/collector.ts';
import { parseMonth } from '../formats/day.ts';
import { firstLine, isFootnote, readTable } from '../formats/table.ts';
import type { Provider } from '../provider.ts';
import { parsedOf } from './adapter/parsed.ts';
import { settingsOf, urlFrom } from './adapter/settings.ts';

const SETTINGS = settingsOf('imf');

/** The names of each dimension in different editions, and the codes of a monthly world price in dollars. */
const DIMENSIONS = [
  { names: ['COUNTRY', 'REF_AREA'], codes: ['G001', 'W00'], means: 'the world' },
  {
    names: ['DATA_TRANSFORMATION', 'UNIT_MEASURE', 'UNIT'],
    codes: ['USD', 'US_DOLLAR', 'US DOLLAR'],
    means: 'a price in USD',
  },
  { names: ['FREQUENCY', 'FREQ'], codes: ['M'], means: 'monthly' },
  { names: ['SCALE', 'UNIT_MULT'], codes: ['0', 'UNITS', '1'], means: 'single units' },
];
const { time: TIME, value: VALUE, series: INDICATOR } = SETTINGS.columns as Record<string, string[]>;

/** Primary commodity prices: monthly averages. */
export const imf: Provider = {
  ...SETTINGS,
  requests(_secrets, since) {
    const ids = this.series.map(({ id }) => id).join('+');
    const from = since === undefined ? '' : `&startPeriod=${printDay(since).slice(0, 7)}`;
    return [{ url: urlFrom(this.urls.data!, { ids }) + from }];
  },
  parse(body) {
    const text = textOf(body, 'CSV');
    const needed = [TIME!, VALUE!];
    const table = readTable(text, (names) => {
      const upper = names.map((name) => name.toUpperCase());
      return needed.every((among) => among.some((name) => upper.includes(name)));
    });
    if (!table)
      throw new Error(
        `no line has ${needed.map((among) => among.join(' or ')).join(' and ')}; the text starts with ${quote(firstLine(text))}`,
      );
    const names = table.header.map((name) => name.toUpperCase());
    const columnOf = (among: readonly string[]): number =>
      among.map((name) => names.indexOf(name)).find((index) => index >= 0) ?? -1;
    const indicator = columnOf(INDICATOR!);
    if (indicator < 0) throw new Error(`no column is one of ${INDICATOR!.join(', ')}`);
    const dimensions = DIMENSIONS.map((one) => ({ ...one, column: columnOf(one.names) })).filter(
      ({ column }) => column >= 0,
    );
    const time = columnOf(TIME!);
    const value = columnOf(VALUE!);
    const collector = new Collector();
    for (const { line, cells } of table.rows) {
      if (isFootnote(cells)) continue;
      const where = `line ${line}`;
      const id = codeOf(cells[indicator]);
      const other = dimensions.find(({ column, codes }) => !isOneOf(codes, cells[column]));
      const day = parseMonth(cells[time] ?? '');
      const price = readCell(cells[value]);
      if (id === '') collector.refuse(where, 'it does not name its commodity');
      else if (other) {
        const found = quote(cells[other.column] ?? '');
        collector.refuseSeries(
          `${id} ${found}`,
          where,
          `${quote(id)} has ${found}, which is not ${other.means}`,
        );
      } else if (day === undefined) collector.refuse(where, `${quote(cells[time] ?? '')} is not a month`);
      else if (price === 'missing') collector.missing++;
      else if (price === undefined) collector.refuse(where, `${quote(cells[value] ?? '')} is not a number`);
      else collector.addValue(id, day, price, where);
    }
    return parsedOf(collector, { complete: true });
  },
};

/** `PCOPP`, also from a labelled cell: `PCOPP: Copper, Grade A`. */
function codeOf(cell: string | undefined): string {
  return (cell ?? '').split(':')[0]!.trim().toUpperCase();
}

/** An empty cell matches. */
function isOneOf(codes: readonly string[], cell: string | undefined): boolean {
  const code = codeOf(cell);
  return code === '' || codes.includes(code);
}
