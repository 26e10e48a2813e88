import { printDay } from '../../market/day.ts';
import { textOf } from '../formats/body.ts';
import { quote, readCell } from '../formats/cell.ts';
import { Collector } from '../formats/collector.ts';
import { parseMonth } from '../formats/day.ts';
import { firstLine, isFootnote, readTable } from '../formats/table.ts';
import type { ProvidedSeries, Provider } from '../provider.ts';
import { parsedOf } from './parsed.ts';

const SERIES: readonly ProvidedSeries[] = [
  { id: 'PIORECR', symbol: 'IORECR', currency: 'USD', unit: 'DMT' },
  { id: 'PLMMODY', symbol: 'LMMODY', currency: 'USD', unit: 'MT' },
  { id: 'PVANPENT', symbol: 'VANPENT', currency: 'USD', unit: 'MT' },
  { id: 'PMANGELE', symbol: 'MANGELE', currency: 'USD', unit: 'MT' },
  { id: 'PCHROM', symbol: 'CHROM', currency: 'USD', unit: 'MT' },
  { id: 'PSILLUMP', symbol: 'SILLUMP', currency: 'USD', unit: 'MT' },
  { id: 'PPALLA', symbol: 'PA-AVG', currency: 'USD', unit: 'T.oz' },
  { id: 'PURAN', symbol: 'UXA-AVG', currency: 'USD', unit: 'Lb' },
  { id: 'POLVOIL', symbol: 'OLIVE-OIL', currency: 'USD', unit: 'MT' },
  { id: 'PHIDE', symbol: 'HIDES', currency: 'USX', unit: 'Lb' },
  { id: 'PMAIZMT', symbol: 'MAIZE', currency: 'USD', unit: 'MT' },
  { id: 'PBARL', symbol: 'NBLC1', currency: 'USD', unit: 'MT' },
  { id: 'PRICENPQ', symbol: 'RICET5', currency: 'USD', unit: 'MT' },
  { id: 'PGNUTS', symbol: 'GN', currency: 'USD', unit: 'MT' },
  { id: 'PFSHMEAL', symbol: 'FM', currency: 'USD', unit: 'MT' },
  { id: 'PCOALAU', symbol: 'COAL-AU', currency: 'USD', unit: 'MT' },
  { id: 'PCOALSA', symbol: 'RB1COAL', currency: 'USD', unit: 'MT' },
  { id: 'PNGASEU', symbol: 'NG-EU', currency: 'USD', unit: 'MMBtu' },
  { id: 'PNGASJP', symbol: 'LNG', currency: 'USD', unit: 'MMBtu' },
  { id: 'POILDUB', symbol: 'DBLC1', currency: 'USD', unit: 'Bbl' },
];

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
const INDICATOR = ['INDICATOR', 'COMMODITY'];

/** Primary commodity prices: monthly averages. */
export const imf: Provider = {
  key: 'imf',
  title: 'IMF Primary Commodity Price System',
  licence: {
    redistribution: 'attribution',
    attribution: 'Source: International Monetary Fund, Primary Commodity Price System (PCPS)',
    url: 'https://www.imf.org/en/about/copyright-and-terms',
  },
  schedule: '0 14 3-20 * *',
  zone: 'America/New_York',
  body: 'csv',
  series: SERIES,
  needs: [],
  requests(_secrets, since) {
    const ids = SERIES.map(({ id }) => id).join('+');
    const from = since === undefined ? '' : `&startPeriod=${printDay(since).slice(0, 7)}`;
    const site = 'https://api.imf.org/external/sdmx/2.1/data/IMF.RES,PCPS';
    return [{ url: `${site}/G001.${ids}.USD.M?format=csvdata${from}` }];
  },
  parse(body) {
    const text = textOf(body, 'CSV');
    const table = readTable(text, (names) => {
      const upper = names.map((name) => name.toUpperCase());
      return upper.includes('TIME_PERIOD') && upper.includes('OBS_VALUE');
    });
    if (!table)
      throw new Error(
        `no line has TIME_PERIOD and OBS_VALUE; the text starts with ${quote(firstLine(text))}`,
      );
    const names = table.header.map((name) => name.toUpperCase());
    const columnOf = (among: readonly string[]): number =>
      among.map((name) => names.indexOf(name)).find((index) => index >= 0) ?? -1;
    const indicator = columnOf(INDICATOR);
    if (indicator < 0) throw new Error(`no column is one of ${INDICATOR.join(', ')}`);
    const dimensions = DIMENSIONS.map((one) => ({ ...one, column: columnOf(one.names) })).filter(
      ({ column }) => column >= 0,
    );
    const time = names.indexOf('TIME_PERIOD');
    const value = names.indexOf('OBS_VALUE');
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
