import { expect, test } from 'bun:test';
import { apiOn, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import {
  askFor,
  ERRORS,
  expectDetailedError,
  expectLimitErrors,
  publishPrices,
  SUNDAY,
  spanOf,
} from './generations.ts';

const RANGE = 'startDate=2024-05-10&endDate=2024-05-14';

/** The rates endpoints, each without its symbols. */
const PATHS = [
  '/rates/latest?',
  '/rates/historical?date=2024-05-14&',
  '/rates/historical?date=2024-05-14&asOf=2024-05-15&',
  `/rates/time-series?${RANGE}&`,
  `/rates/fluctuation?${RANGE}&`,
  `/rates/history?${RANGE}&`,
  '/rates/revisions?date=2024-05-14&',
];

onEachEngine('the interface under /v3', (engine) => {
  const api = apiOn(engine, {}, publishPrices);

  for (const path of PATHS) {
    test(`${path} answers 206 with the known symbols and lists the unknown ones`, async () => {
      const known = await api.ask(`/v3${path}symbols=XAU,XAG`);
      for (let i = 0; i < 3; i++) {
        const partial = await api.ask(`/v3${path}symbols=XAU,NOPE,XAG,XAUU`);
        expect(partial.status).toBe(206);
        const { unresolved, ...rest } = partial.body;
        expect(rest).toEqual(known.body);
        expect(Object.keys(unresolved as Json)).toEqual(['NOPE', 'XAUU']);
        expect((unresolved as Record<string, Json>).XAUU!.message).toContain('XAUU (did you mean XAU');
        expect((unresolved as Record<string, Json>).NOPE!.message).toStartWith('Unknown symbol: NOPE');
      }
    });

    test(`${path} is 404 if no symbol is known`, async () => {
      expectDetailedError(api, await api.ask(`/v3${path}symbols=NOPE,NADA`), {
        status: 404,
        code: 'unknown_symbol',
        error: 'SYMBOL_NOT_FOUND',
        path: `/v3${path.split('?')[0]}`,
      });
    });
  }

  test('a formula with unknown symbols is listed as it is requested, and each unknown symbol once', async () => {
    const formulas = '({XAU})/{NOPE}-{NADA},NOPE,XAU';
    const partial = await api.ask(`/v3/rates/historical?date=2024-05-14&symbols=${formulas}`);
    expect(partial.status).toBe(206);
    const unresolved = partial.body.unresolved as Record<string, Json>;
    expect(Object.keys(unresolved)).toEqual(['{XAU}/{NOPE}-{NADA}', 'NOPE']);
    expect(unresolved['{XAU}/{NOPE}-{NADA}']!.message).toStartWith('Unknown symbols: NOPE');
    const { body } = await api.ask(`/rates/historical?date=2024-05-14&symbols=${formulas}`);
    expect((body.message as string).match(/NOPE/g)).toHaveLength(1);
  });

  test('a partial answer costs a unit, has a tag of its own, and a 304 for it is free', async () => {
    const key = await api.service.key('basic');
    const usedBy = async () => (await api.ask('/v3/usage', { key })).body.used;
    const partial = await api.ask(`/v3${SUNDAY},NOPE`, { key });
    const etag = partial.headers.get('etag')!;
    expect(etag).not.toBe((await api.ask(`/v3${SUNDAY}`, { key })).headers.get('etag'));
    expect(await usedBy()).toBe(2);
    const again = await api.ask(`/v3${SUNDAY},NOPE`, { key, headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    expect((await api.ask(`/v3${SUNDAY},NOPE`, { key, method: 'HEAD' })).status).toBe(206);
    expect(await usedBy()).toBe(2);
  });

  test('a table cannot say what is missing, so an unknown symbol fails it', async () => {
    const reply = await api.ask(`/v3${SUNDAY},NOPE&format=csv`);
    expect([reply.status, reply.body.error]).toEqual([404, 'SYMBOL_NOT_FOUND']);
  });

  test('a key that was sent as a symbol is not repeated', async () => {
    const { status, text } = await api.ask(`/v3/rates/latest?symbols=XAU,${api.key}`);
    expect(status).toBe(206);
    expect(text.toLowerCase()).not.toContain(api.key.toLowerCase());
  });

  test('time series, historical records and latest are as under /v2', async () => {
    expect((await api.ask(`/v3${spanOf(366)}`)).body.code).toBe('range_too_long');
    for (const path of [spanOf(365), SUNDAY, '/rates/latest?symbols=XAU,XAG']) {
      expect((await api.ask(`/v3${path}`)).text).toBe((await api.ask(`/v2${path}`)).text);
    }
  });

  for (const [path, status, code, error] of ERRORS) {
    test(`${path} is ${error}, with path and timestamp`, async () => {
      const expected = { status, code, error, path: `/v3${path.split('?')[0]}` };
      expectDetailedError(api, await askFor(api, `/v3${path}`), expected);
    });
  }

  test('limits are LIMIT_REACHED and TOO_MANY_REQUESTS', () => expectLimitErrors(api, '/v3'));
});
