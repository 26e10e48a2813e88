import { textOf } from '../formats/body.ts';
import { quote, readCell } from '../formats/cell.ts';
import { parsePlainDay } from '../formats/day.ts';
import { firstLine, isFootnote, readTable } from '../formats/table.ts';
import { Gathering } from '../gathering.ts';
import { parsedOf } from '../parsed.ts';
import type { FeedRequest, Provider } from '../provider.ts';

const CENTS_PER_BUSHEL = { currency: 'USX', unit: 'Bu' };

/** Daily bars. The site answers a robot with a page of JavaScript and status 200. */
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
    const table = readTable(text, (names) => {
      const lower = names.map((name) => name.toLowerCase());
      return ['date', 'open', 'high', 'low', 'close'].every((name) => lower.includes(name));
    });
    if (!table)
      throw new Error(
        `no line has Date, Open, High, Low and Close; the text starts with ${quote(firstLine(text))}`,
      );
    const id = request.series ?? nameIn(request);
    if (!id) throw new Error('the body does not say which series it is of, and the request does not either');
    const lower = table.header.map((name) => name.toLowerCase());
    const at = (name: string): number => lower.indexOf(name);
    const columns = [at('open'), at('high'), at('low'), at('close')];
    const gathering = new Gathering<string>();
    for (const { line, cells } of table.rows) {
      if (isFootnote(cells)) continue;
      const where = `line ${line}`;
      const day = parsePlainDay(cells[at('date')] ?? '');
      const prices = columns.map((column) => readCell(cells[column]));
      const wrong = prices.indexOf(undefined);
      if (day === undefined) gathering.refuse(where, `${quote(cells[at('date')] ?? '')} is not a day`);
      else if (prices.includes('missing'))
        gathering.missing++; // a ragged row ends early
      else if (wrong >= 0) gathering.refuse(where, `${quote(cells[columns[wrong]!] ?? '')} is not a number`);
      else {
        const [open, high, low, close] = prices as [number, number, number, number];
        gathering.take(id, day, { open, high, low, close }, where);
      }
    }
    return parsedOf(gathering);
  },
};

function nameIn({ url }: FeedRequest): string | undefined {
  return (URL.canParse(url) && new URL(url).searchParams.get('s')?.toLowerCase()) || undefined;
}
