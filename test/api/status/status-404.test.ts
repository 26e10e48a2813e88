import { expect, test } from 'bun:test';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

/** Guesses that people make, and the path that the message must name. */
const GUESSES: [path: string, right: string][] = [
  ['/latest', '/rates/latest'],
  ['/v1/latest', '/v1/rates/latest'],
  ['/v2/latest', '/v2/rates/latest'],
  ['/v2/latest/', '/v2/rates/latest'],
  ['/api/latest', '/rates/latest'],
  ['/v4/symbols', '/symbols'],
  ['/v10/latest', 'Did you mean /rates/latest?'],
  ['/latest.csv', 'Did you mean /rates/latest.csv?'],
  ['/v2/history.parquet', 'Did you mean /v2/rates/history.parquet?'],
  [
    '/rates/history.xlsx',
    'Did you mean /rates/history.csv? A path may end in .json, .csv, .ndjson or .parquet.',
  ],
  ['/latest.php', 'Did you mean /rates/latest?'],
  ['/rates/timeseries', '/rates/time-series'],
  ['/v1/rates/timeseries', '/v1/rates/time-series'],
  ['/timeseries', '/rates/time-series'],
  ['/Rates/Latest', '/rates/latest'],
  ['/convert', '/rates/latest'],
  ['/v2/convert', '/v2/rates/latest'],
  ['/2024-05-14', '/rates/historical?date=2024-05-14'],
  ['/v2/2024-05-14', '/v2/rates/historical?date=2024-05-14'],
  ['/rates/2024-05-14', '/rates/historical?date=2024-05-14'],
  ['/rates/historical/2024-05-14', '/rates/historical?date=2024-05-14'],
  ['/v2/historical/2024-05-14', '/v2/rates/historical?date=2024-05-14'],
  ['/v1/', '/rates/latest'],
  ['/nowhere', '/rates/time-series'],
];

onEachEngine('404', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
  });

  for (const [path, right] of GUESSES) {
    test(`${path} is not_found, and the message names ${right}`, async () => {
      const reply = await api.ask(path, { key: '' });
      const { error, path: askedFor, timestamp } = reply.body;
      const details = path.startsWith('/v2/') ? { error, path: askedFor, timestamp } : {};
      expect(expectRefusal(reply, 404, 'not_found', details)).toContain(right);
    });
  }

  test('an unknown path is 404 for every method, without a key', async () => {
    for (const method of ['POST', 'DELETE', 'PATCH']) {
      expectRefusal(await api.ask('/nowhere', { method, key: '' }), 404, 'not_found');
    }
  });

  test('one unknown code fails the request, and each is listed with the nearest known codes', async () => {
    const path = '/rates/latest?symbols=xau,XAUU,wtioil-fu,QQQQQQQQQ';
    const message = expectRefusal(await api.ask(path), 404, 'unknown_symbol');
    expect(message).toContain('XAUU (did you mean XAU');
    expect(message).toContain('WTIOIL-FU (did you mean WTIOIL-FUT');
    expect(message).toContain('QQQQQQQQQ');
    expect(message).not.toContain('QQQQQQQQQ (');
  });

  test('the name of a commodity or of a category is answered with its symbols', async () => {
    const message = async (code: string) =>
      expectRefusal(await api.ask(`/rates/latest?symbols=${code}`), 404, 'unknown_symbol');
    expect(await message('IRON')).toContain('IRON (did you mean TIOC');
    expect(await message('CRUDE_OIL')).toMatch(/did you mean .*BRENTOIL-FUT.*WTIOIL-FUT/);
    expect(await message('PALM-KERNEL-OIL')).toContain('(did you mean PKO?)');
    expect(await message('GC=F')).toContain('(did you mean XAU');
  });

  test('the four rate endpoints refuse an unknown code in the same way', async () => {
    const range = 'startDate=2024-05-13&endDate=2024-05-14';
    const paths = [
      'latest?',
      'historical?date=2024-05-14&',
      `time-series?${range}&`,
      `fluctuation?${range}&`,
    ];
    const replies = await Promise.all(paths.map((path) => api.ask(`/rates/${path}symbols=XAU,NOPE`)));
    for (const reply of replies) {
      expectRefusal(reply, 404, 'unknown_symbol');
      expect(reply.text).toBe(replies[0]!.text);
    }
  });

  test('symbols without data are no_data', async () => {
    expectRefusal(await api.ask('/rates/latest?symbols=XAG'), 404, 'no_data');
    expectRefusal(await api.ask('/rates/historical?symbols=XAG&date=2024-05-14'), 404, 'no_data');
    expectRefusal(
      await api.ask('/rates/fluctuation?symbols=XAG&startDate=2024-05-13&endDate=2024-05-14'),
      404,
      'no_data',
    );
  });
});
