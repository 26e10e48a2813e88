import { textOf } from '../formats/body.ts';
import { quote, readCell } from '../formats/cell.ts';
import { Collector } from '../formats/collector.ts';
import { parsePlainDay } from '../formats/day.ts';
import { firstLine, isFootnote, readTable } from '../formats/table.ts';
import type { FeedRequest, Provider } from '../provider.ts';
import { parsedOf } from './adapter/parsed.ts';
import { settingsOf, urlFrom } from './adapter/settings.ts';

const SETTINGS = settingsOf('stooq');

/** Daily bars. The site answers bots with a JavaScript page and status 200. */
export const stooq: Provider = {
  ...SETTINGS,
  requests() {
    return this.series.map(({ id }) => ({ url: urlFrom(this.urls.series!, { id }), series: id }));
  },
  parse(body, request) {
    const text = textOf(body, 'CSV');
    const table = readTable(text, (names) => columnsOf(names) !== undefined);
    if (!table)
      throw new Error(
        `no line has Date, Open, High, Low and Close; the text starts with ${quote(firstLine(text))}`,
      );
    const { ticker, date, prices } = columnsOf(table.header)!;
    const requested = request.series ?? nameIn(request);
    const collector = new Collector();
    for (const { line, cells } of table.rows) {
      if (isFootnote(cells)) continue;
      const where = `line ${line}`;
      const id = ticker >= 0 ? (cells[ticker] ?? '').toLowerCase() : requested;
      if (!id) throw new Error('neither the body nor the request names the series');
      const day = parsePlainDay(cells[date] ?? '');
      const values = prices.map((column) => readCell(cells[column]));
      const wrong = values.indexOf(undefined);
      if (day === undefined) collector.refuse(where, `${quote(cells[date] ?? '')} is not a day`);
      else if (values.includes('missing'))
        collector.missing++; // a short row
      else if (wrong >= 0) collector.refuse(where, `${quote(cells[prices[wrong]!] ?? '')} is not a number`);
      else {
        const [open, high, low, close] = values as [number, number, number, number];
        collector.add(id, day, { open, high, low, close }, where);
      }
    }
    return parsedOf(collector);
  },
};

/** In English, in Polish, or in angle brackets as in the bulk files, which also have a ticker in each row. */
function columnsOf(
  header: readonly string[],
): { ticker: number; date: number; prices: number[] } | undefined {
  const names = header.map((name) => name.toLowerCase().replace(/[<>]/g, ''));
  const find = (among: readonly string[]): number => names.findIndex((name) => among.includes(name));
  const { date: days, ...ofPrices } = SETTINGS.columns as Record<string, string[]>;
  const [date, prices] = [find(days!), Object.values(ofPrices).map(find)];
  return date >= 0 && prices.every((column) => column >= 0)
    ? { ticker: find(['ticker']), date, prices }
    : undefined;
}

function nameIn({ url }: FeedRequest): string | undefined {
  return (URL.canParse(url) && new URL(url).searchParams.get('s')?.toLowerCase()) || undefined;
}
