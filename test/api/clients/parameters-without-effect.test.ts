import { expect, test } from 'bun:test';
import { OPERATIONS } from '../../../src/api/openapi/operations.ts';
import { PARAMETERS } from '../../../src/api/openapi/parameters.ts';
import { RATES_PARAMETERS } from '../../../src/api/params/synonyms.ts';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

/** A valid value of every parameter. */
const VALUES: Readonly<Record<(typeof RATES_PARAMETERS)[number], string>> = {
  symbols: 'XAU',
  date: '2024-05-14',
  startDate: '2024-05-13',
  endDate: '2024-05-14',
  metadata: 'false',
  quote: 'USX',
  unit: 'kg',
  asOf: '2024-05-15',
  interval: 'week',
  transform: 'percent',
  period: '1',
  moving: '2',
  layout: 'wide',
  field: 'average',
  format: 'csv',
  cursor: 'x',
  closes: '5',
  visit: 'x',
  dryRun: 'true',
};

/** The endpoints of customers that are read, each with a request that is answered. `/market/quotes` needs a paid visit, so it refuses every request here. */
const RANGE = 'symbols=XAU&startDate=2024-05-13&endDate=2024-05-14';
const REQUESTS: Readonly<Record<string, string>> = {
  '/symbols': '',
  '/rates/latest': 'symbols=XAU',
  '/rates/historical': 'symbols=XAU&date=2024-05-14',
  '/rates/time-series': RANGE,
  '/rates/fluctuation': RANGE,
  '/rates/history': RANGE,
  '/rates/statistics': RANGE,
  '/rates/revisions': 'symbols=XAU&date=2024-05-14',
  '/rates/stream': 'symbols=XAU&dryRun=true',
  '/market': '',
  '/usage': '',
  '/usage/daily': '',
  '/account': '',
  '/account/capabilities': '',
  '/account/keys': '',
  '/feeds': '',
  '/units': '',
};
const operations = OPERATIONS.filter(
  ({ method, tag, path }) =>
    method === 'GET' && (tag === 'Rates' || tag === 'Account') && path !== '/market/quotes',
);

test('every endpoint of customers is tried', () => {
  expect(operations.map(({ path }) => path).sort()).toEqual(Object.keys(REQUESTS).sort());
});

onEachEngine('a parameter without effect', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-13': 2336.1, '2024-05-14': 2358.2 });
  });

  for (const { path, parameters = [] } of operations) {
    const documented = new Set(parameters.map((name) => PARAMETERS[name].name));
    const others = RATES_PARAMETERS.filter((name) => !documented.has(name));
    const formats = documented.has('format')
      ? ['', '&format=csv', '&format=ndjson', '&format=parquet']
      : [''];
    test(`is refused or reported by ${path}: ${others.join(', ')}`, async () => {
      for (const [name, format] of others.flatMap((one) => formats.map((format) => [one, format] as const))) {
        const { status, body, headers } = await api.ask(
          `${path}?${REQUESTS[path]}&${name}=${VALUES[name]}${format}`,
        );
        const warnings = [...((body.warnings ?? []) as string[]), headers.get('openpit-warnings') ?? ''];
        const isReported = warnings.some((one) =>
          one.includes(`The parameter "${name}" has no effect on ${path}.`),
        );
        expect([name, format, status === 400 || isReported]).toEqual([name, format, true]);
      }
    });
  }
});
