import { textOf } from '../formats/body.ts';
import { quote, readCell } from '../formats/cell.ts';
import { Collector } from '../formats/collector.ts';
import { parsePlainDay } from '../formats/day.ts';
import { firstLine, isFootnote, readTable } from '../formats/table.ts';
import type { FeedRequest, Provider } from '../provider.ts';
import { parsedOf } from './parsed.ts';

const CENTS_PER_BUSHEL = { currency: 'USX', unit: 'Bu' };

/** Daily bars. The site answers bots with a JavaScript page and status 200. */
export const stooq: Provider = {
  key: 'stooq',
  title: 'Stooq',
  licence: { redistribution: 'no', attribution: 'Source: Stooq', url: 'https://stooq.com/' },
  schedule: '30 23 * * 1-5',
  zone: 'Europe/Warsaw',
  body: 'csv',
  series: [
    { id: 'cl.f', symbol: 'WTIOIL-FUT', currency: 'USD', unit: 'Bbl' },
    { id: 'cb.f', symbol: 'BRENTOIL-FUT', currency: 'USD', unit: 'Bbl' },
    { id: 'ng.f', symbol: 'NG-FUT', currency: 'USD', unit: 'MMBtu' },
    { id: 'rb.f', symbol: 'RB-FUT', currency: 'USD', unit: 'Gal' },
    { id: 'ho.f', symbol: 'HO-FUT', currency: 'USD', unit: 'Gal' },
    { id: 'xauusd', symbol: 'XAU', currency: 'USD', unit: 'T.oz' },
    { id: 'xagusd', symbol: 'XAG', currency: 'USD', unit: 'T.oz' },
    { id: 'xptusd', symbol: 'PL', currency: 'USD', unit: 'T.oz' },
    { id: 'xpdusd', symbol: 'PA', currency: 'USD', unit: 'T.oz' },
    { id: 'zc.f', symbol: 'CORN', currency: 'USX', unit: 'Bu' },
    { id: 'zs.f', symbol: 'SOYBEAN-FUT', currency: 'USX', unit: 'Bu' },
    { id: 'zw.f', symbol: 'ZW-FUT', currency: 'USD', unit: 'Bu', factor: 0.01, published: CENTS_PER_BUSHEL },
  ],
  needs: [],
  requests() {
    return this.series.map(({ id }) => ({ url: `https://stooq.com/q/d/l/?s=${id}&i=d`, series: id }));
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
const NAMES = {
  date: ['date', 'data'],
  prices: [
    ['open', 'otwarcie'],
    ['high', 'najwyzszy'],
    ['low', 'najnizszy'],
    ['close', 'zamkniecie'],
  ],
};

function columnsOf(
  header: readonly string[],
): { ticker: number; date: number; prices: number[] } | undefined {
  const names = header.map((name) => name.toLowerCase().replace(/[<>]/g, ''));
  const find = (among: readonly string[]): number => names.findIndex((name) => among.includes(name));
  const [date, prices] = [find(NAMES.date), NAMES.prices.map(find)];
  return date >= 0 && prices.every((column) => column >= 0)
    ? { ticker: find(['ticker']), date, prices }
    : undefined;
}

function nameIn({ url }: FeedRequest): string | undefined {
  return (URL.canParse(url) && new URL(url).searchParams.get('s')?.toLowerCase()) || undefined;
}
