import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
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

onEachEngine('the interface under /v2', (engine) => {
  const api = apiOn(engine, {}, publishPrices);

  test('a time series spans 365 days', async () => {
    const { status, body } = await api.ask(`/v2${spanOf(365)}`);
    expect(status).toBe(200);
    expect(Object.keys(body.rates as object)).toEqual(['2023-07-03', '2024-05-10', '2024-05-14']);
    const tooLong = await api.ask(`/v2${spanOf(366)}`);
    expect(tooLong.body).toMatchObject({
      statusCode: '400',
      code: 'range_too_long',
      error: 'VALIDATION_ERROR',
    });
    expect(tooLong.body.message).toContain('366 days and the limit is 365 days');
    expect(tooLong.body.message).toContain('/rates/history');
  });

  test('a number that the operator set applies here, too', async () => {
    const { service } = api;
    await service.setPlan({ name: 'month', maxSpanDays: 30 });
    await service.setPlan({ name: 'decade', maxSpanDays: 3_650 });
    const [month, decade] = [await service.key('month'), await service.key('decade')];
    expect((await api.ask(`/v2${spanOf(30)}`, { key: month })).status).toBe(200);
    expect((await api.ask(`/v2${spanOf(31)}`, { key: month })).body.code).toBe('range_too_long');
    expect((await api.ask(`/v1${spanOf(3_650)}`, { key: decade })).status).toBe(200);
    expect((await api.ask(`/v2${spanOf(3_651)}`, { key: decade })).body.code).toBe('range_too_long');
  });

  test('a historical record has the day it is from, also on a closed day and without metadata', async () => {
    const record = '"open":2346,"high":2360,"low":2340,"close":2350,"date":"2024-05-10"';
    const { text } = await api.ask(`/v2${SUNDAY}&metadata=false`);
    expect(text).toBe(`{"success":true,"date":"2024-05-12","rates":{"XAU":{${record}}}}`);
    const asOf = await api.ask(`/v2${SUNDAY}&metadata=false&asOf=2024-05-15`);
    expect(asOf.text).toBe(text);
  });

  test('records of time series and fluctuations are those of /v1', async () => {
    for (const path of [spanOf(30), spanOf(4).replace('time-series', 'fluctuation')]) {
      expect((await api.ask(`/v2${path}`)).text).toBe((await api.ask(`/v1${path}`)).text);
    }
  });

  test('latest has its metadata also as metaData, and neither with metadata=false', async () => {
    for (let i = 0; i < 3; i++) {
      const { body } = await api.ask('/v2/rates/latest?symbols=XAU,GOLD');
      expect(Object.keys(body)).toEqual(['success', 'timestamp', 'rates', 'metadata', 'metaData']);
      expect(body.metaData).toEqual(body.metadata);
    }
    const without = await api.ask('/v2/rates/latest?symbols=XAU&metadata=false');
    expect(Object.keys(without.body)).toEqual(['success', 'timestamp', 'rates']);
  });

  test('one unknown symbol fails the request', async () => {
    expectDetailedError(api, await api.ask('/v2/rates/latest?symbols=XAU,NOPE'), {
      status: 404,
      code: 'unknown_symbol',
      error: 'SYMBOL_NOT_FOUND',
      path: '/v2/rates/latest',
    });
  });

  for (const [path, status, code, error] of ERRORS) {
    test(`${path} is ${error}, with path and timestamp`, async () => {
      const expected = { status, code, error, path: `/v2${path.split('?')[0]}` };
      expectDetailedError(api, await askFor(api, `/v2${path}`), expected);
    });
  }

  test('the errors of usage, of a wrong method and of a long URL have the same members', async () => {
    const usage = await api.ask('/v2/usage', { key: 'wrong' });
    const key = { status: 401, code: 'invalid_key', error: 'API_KEY_NOT_FOUND', path: '/v2/usage' };
    expectDetailedError(api, usage, key);
    const method = await api.ask('/v2/symbols', { method: 'PUT' });
    const put = { status: 405, code: 'method_not_allowed', error: 'VALIDATION_ERROR', path: '/v2/symbols' };
    expectDetailedError(api, method, put);
    const long = await api.ask(`/v2/symbols?x=${'y'.repeat(9_000)}`);
    const tooLong = { status: 414, code: 'uri_too_long', error: 'VALIDATION_ERROR', path: '/v2/symbols' };
    expectDetailedError(api, long, tooLong);
  });

  test('limits are LIMIT_REACHED and TOO_MANY_REQUESTS', () => expectLimitErrors(api, '/v2'));

  test('a key in the path is not repeated', async () => {
    const { body } = await api.ask(`/v2/${api.key}`, { key: '' });
    expect(body.path).toBe('/v2/pit_live_…');
  });

  test('the account names the span that applies here', async () => {
    expect((await api.ask('/v2/account')).body.plan).toMatchObject({ maxSpanDays: 365 });
  });
});
