import type { FeedRequest, Parsed, Provider } from '../../../src/feeds/provider.ts';
import { parseDay } from '../../../src/market/day.ts';
import { parseNumber } from '../../../src/market/decimal.ts';

/**
 * A minimal provider: CSV with a column of days and one per series, and a last line `next,/path` if there is a further
 * page.
 */
export function stubProvider(url: string, changes: Partial<Provider> = {}): Provider {
  return {
    key: 'stub',
    title: 'A stub on this machine',
    licence: { redistribution: 'yes', attribution: 'A stub.', url: 'https://stub.example/licence' },
    schedule: '0 18 * * 1-5',
    zone: 'Europe/Berlin',
    body: 'csv',
    series: [
      { id: 'GOLD', symbol: 'XAU', currency: 'USD', unit: 'T.oz' },
      { id: 'SILVER', symbol: 'XAG', currency: 'USD', unit: 'T.oz' },
    ],
    requiredSettings: [],
    urls: { prices: `${url}/prices.csv` },
    requests() {
      return [{ url: this.urls.prices! }];
    },
    parse: (body, request) => parseStub(new TextDecoder().decode(body), request),
    ...changes,
  };
}

function parseStub(text: string, request: FeedRequest): Parsed {
  const [header, ...rows] = text
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  if (header?.[0] !== 'date') throw new Error('the first line does not begin with "date"');
  const parsed: Parsed = { observations: [], missing: 0, refused: [] };
  for (const [i, [date = '', ...cells]] of rows.entries()) {
    if (date === 'next') parsed.next = { url: new URL(cells[0]!, request.url).href };
    else {
      // This provider accepts any date, even 2999.
      const day = parseDay(date) ?? (/^2[2-9]\d\d-/.test(date) ? Date.parse(date) / 86_400_000 : undefined);
      for (const [column, cell] of cells.entries()) {
        const price = parseNumber(cell);
        if (cell === '.') parsed.missing++;
        else if (day === undefined || price === undefined) {
          parsed.refused.push({ where: `line ${i + 2}`, reason: `"${date},${cell}" is no price of a day` });
        } else {
          const series = header[column + 1]!;
          parsed.observations.push({ series, day, open: price, high: price, low: price, close: price });
        }
      }
    }
  }
  return parsed;
}
