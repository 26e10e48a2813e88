import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import type { HistoryRow, SymbolsAnswer } from '../client/answers.ts';
import type { AskRates } from '../client/ask.ts';
import { csv } from '../client/csv.ts';
import { historyPages } from '../client/history.ts';
import { GUIDE } from './guide.ts';
import { errorText } from './hints.ts';
import { askUntil, oneSymbol, symbolParams } from './tool.ts';

/** Which series a resource holds. */
export interface SeriesName {
  symbol: string;
  from: string;
  to: string;
  interval: string;
  currency?: string | undefined;
  unit?: string | undefined;
}

/** `-` stands for the symbol's own currency or unit. */
const OWN = '-';

export function seriesUri({ symbol, from, to, interval, currency = OWN, unit = OWN }: SeriesName): string {
  const parts = [symbol, from, to, interval, currency, unit].map(encodeURIComponent);
  return `openpit://series/${parts.join('/')}`;
}

const SERIES_TEMPLATE = 'openpit://series/{symbol}/{from}/{to}/{interval}/{currency}/{unit}';

export function registerResources(server: McpServer, ask: AskRates): void {
  server.registerResource(
    'guide',
    'openpit://guide',
    {
      title: 'How to read the answers',
      description: 'Units, currencies, dates, delays, simulated prices, formulas and quotas',
      mimeType: 'text/markdown',
    },
    async ({ href: uri }) => ({ contents: [{ uri, mimeType: 'text/markdown', text: GUIDE }] }),
  );
  server.registerResource(
    'symbols',
    'openpit://symbols',
    {
      title: 'All symbols',
      description: 'Code, name, category, currency, unit and dates, as CSV. Costs a unit.',
      mimeType: 'text/csv',
    },
    ({ href: uri }) => table(uri, symbolTable(ask)),
  );
  server.registerResource(
    'series',
    new ResourceTemplate(SERIES_TEMPLATE, { list: undefined }),
    {
      title: 'A complete price series',
      description: 'Every row of a series as CSV, as named by price_series. Costs a unit per 2,000 rows.',
      mimeType: 'text/csv',
    },
    ({ href: uri }, _, { mcpReq }) => table(uri, seriesTable(askUntil(mcpReq.signal, ask), seriesName(uri))),
  );
}

async function table(uri: string, reading: Promise<string>) {
  const text = await reading.catch((error: unknown) => {
    throw new Error(errorText(error), { cause: error });
  });
  return { contents: [{ uri, mimeType: 'text/csv', text }] };
}

/** Reads the URI itself, because symbols of formulas contain characters that a template does not match. */
function seriesName(uri: string): SeriesName {
  const [symbol = '', from = '', to = '', interval = '', currency = OWN, unit = OWN] = uri
    .slice('openpit://series/'.length)
    .split('/')
    .map(decodeURIComponent);
  const given = (part: string) => (part === OWN ? undefined : part);
  return { symbol, from, to, interval, currency: given(currency), unit: given(unit) };
}

async function seriesTable(
  ask: AskRates,
  { symbol, from, to, interval, currency, unit }: SeriesName,
): Promise<string> {
  const { error } = oneSymbol.safeParse(symbol);
  if (error) throw new Error(`The symbol ${error.issues[0]!.message}.`);
  const params = {
    ...symbolParams({ symbols: [symbol], currency, unit }),
    startDate: from,
    endDate: to,
    interval,
  };
  const rows: HistoryRow[] = [];
  for await (const page of historyPages(ask, params)) rows.push(...page.rates);
  return csv(
    ['date', 'open', 'high', 'low', 'close', 'average', 'count'],
    rows.map((row) => [row.date, row.open, row.high, row.low, row.close, row.average, row.count]),
  );
}

async function symbolTable(ask: AskRates): Promise<string> {
  const { symbols } = await ask<SymbolsAnswer>('/symbols');
  return csv(
    ['symbol', 'name', 'category', 'currency', 'unit', 'interval', 'firstDate', 'lastDate'],
    symbols.map((one) => [
      one.symbol,
      one.name,
      one.category,
      one.currency.code,
      one.unit.name,
      one.updateInterval,
      one.firstDate ?? '',
      one.lastDate ?? '',
    ]),
  );
}
