import { expect, test } from 'bun:test';
import { OPERATIONS } from '../../../src/api/openapi/operations.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

const RANGE = 'symbols=XAU&startDate=2024-05-13&endDate=2024-05-14';
const PATHS = {
  '/symbols': '',
  '/rates/latest': 'symbols=XAU',
  '/rates/historical': 'symbols=XAU&date=2024-05-14',
  '/rates/time-series': RANGE,
  '/rates/fluctuation': RANGE,
  '/rates/history': RANGE,
  '/rates/statistics': RANGE,
  '/rates/revisions': RANGE,
};

onEachEngine('a path that ends in a format', (engine) => {
  const api = apiOn(engine, {}, ({ service }) =>
    service.publish('XAU', { '2024-05-13': 2336.1, '2024-05-14': 2358.2 }),
  );

  test('is that path with this format, in every version', async () => {
    for (const mount of ['', '/v1', '/v2', '/v3']) {
      for (const [path, query] of Object.entries(PATHS)) {
        for (const format of ['json', 'csv', 'ndjson', 'parquet']) {
          const named = await api.ask(`${mount}${path}?${query}&format=${format}`);
          for (const url of [
            `${path}.${format}?${query}`,
            `${path}.${format}/?${query}`,
            `${path}.${format}?${query}&format=${format.toUpperCase()}`,
          ]) {
            const extended = await api.ask(mount + url, { headers: { accept: 'text/csv' } });
            expect({ url, status: extended.status }).toEqual({ url, status: 200 });
            expect(extended.headers.get('content-type')).toBe(named.headers.get('content-type'));
            if (path !== '/rates/latest') expect(extended.text).toBe(named.text);
          }
        }
      }
    }
  });

  test('answers as often as it is asked, from the cache as well', async () => {
    const first = await api.ask(`/rates/history.csv?${RANGE}`);
    for (let i = 0; i < 4; i++) expect((await api.ask(`/rates/history.csv?${RANGE}`)).text).toBe(first.text);
    await api.service.tick('XAU', 2400);
    expect((await api.ask(`/rates/history.csv?${RANGE}`)).text).toBe(first.text);
  });

  test('must not contradict the parameter', async () => {
    const reply = await api.ask(`/rates/history.csv?${RANGE}&format=json`);
    expect(expectRefusal(reply, 400, 'invalid_parameter')).toContain('the path ends in .csv');
    expectRefusal(await api.ask(`/rates/history.csv?${RANGE}&format=xml`), 400, 'invalid_format');
  });

  test('of a format that does not exist is not found, and the right path is named', async () => {
    for (const [path, right] of [
      ['/rates/history.xlsx', '/rates/history.csv'],
      ['/v1/rates/history.CSVX', '/v1/rates/history'],
    ] as const) {
      const message = expectRefusal(await api.ask(path), 404, 'not_found');
      expect(message).toContain(`Did you mean ${right}?`);
    }
    expect((await api.ask('/usage.csv')).body.message).toContain('Did you mean /usage?');
    expect((await api.ask('/rates/stream.csv')).status).toBe(404);
  });
});

test('the document describes the extensions where there are formats', () => {
  const formatted = OPERATIONS.filter(({ parameters }) => parameters?.includes('format')).map(
    ({ path }) => path,
  );
  expect(formatted.toSorted()).toEqual(Object.keys(PATHS).toSorted());
});
