import { describe, expect, test } from 'bun:test';
import {
  InvalidKey,
  InvalidRequest,
  type Latest,
  NotAllowed,
  NotFound,
  Openpit,
  QuotaExhausted,
  RateLimited,
  Unavailable,
} from '../../client/src/index.ts';
import { apiOn } from '../support/api.ts';
import { failure } from './failure.ts';

const RANGE = { symbols: ['XAU', 'XAG'], from: '2024-05-10', to: '2024-05-14' };

describe('openpit-client', () => {
  const api = apiOn('sqlite', {}, async ({ service }) => {
    await service.publish('XAU', {
      '2024-05-10': 2350.10000000001,
      '2024-05-13': 2336.1,
      '2024-05-14': 2358.2,
    });
    await service.publish('XAG', { '2024-05-10': 28.1, '2024-05-13': 28.3, '2024-05-14': 28.5 });
    await service.setPlan({ name: 'small', quota: 2, history: false });
    await service.setPlan({ name: 'slow', burstPerSecond: 5 });
  });
  const clientOf = (key = api.key) => new Openpit({ url: api.service.url, key });

  test('every call returns what the service answers', async () => {
    const client = clientOf();
    const { metadata, ...latest } = await client.latest(['XAU', 'XAG']);
    expect(latest).toMatchObject({ success: true, rates: { XAU: 2358.2, XAG: 28.5 } });
    expect(metadata?.XAU).toMatchObject({ unit: 'T.oz', quote: 'USD' });
    const day = await client.historical(['XAU'], '2024-05-13', { metadata: false });
    expect(day).toEqual({
      success: true,
      date: '2024-05-13',
      rates: { XAU: { open: 2336.1, high: 2336.1, low: 2336.1, close: 2336.1 } },
    });
    expect(Object.keys((await client.timeSeries(RANGE)).rates)).toEqual([
      '2024-05-10',
      '2024-05-13',
      '2024-05-14',
    ]);
    expect((await client.fluctuation(RANGE)).rates.XAG).toMatchObject({
      startRate: 28.1,
      endRate: 28.5,
      change: 0.4,
    });
    expect((await client.statistics(RANGE)).statistics.XAG).toMatchObject({ count: 3, last: 28.5 });
    expect((await client.symbols()).symbols.map(({ symbol }) => symbol)).toContain('XAU');
    expect(await client.usage()).toMatchObject({ plan: 'unlimited', used: 6 });
    expect(await client.capabilities()).toMatchObject({ plan: 'unlimited', streams: { allowed: true } });
    expect(await client.dryRun('/rates/latest', { symbols: ['XAU'] })).toMatchObject({
      cost: 1,
      admitted: true,
    });
    expect(await client.get<object>('/units', { symbols: ['XAU'] })).toMatchObject({ success: true });
  });

  test('any other request has its method, headers and body, and its response can be a file', async () => {
    const client = clientOf(await api.service.key('unlimited'));
    const created = await client.request('/account/keys', {}, { method: 'POST', body: { name: 'second' } });
    const { key } = (await created.json()) as { key: { id: string; name: string } };
    expect(key.name).toBe('second');
    const path = `/account/keys/${key.id}`;
    await client.request(path, {}, { method: 'PATCH', body: { name: 'renamed' } });
    expect(await client.get<object>('/account/keys')).toMatchObject({
      keys: expect.arrayContaining([expect.objectContaining({ name: 'renamed' })]),
    });
    await client.request(path, {}, { method: 'DELETE' });
    const refused = await failure(client.request(`${path}x`, {}, { method: 'DELETE' }));
    expect(refused).toBeInstanceOf(NotFound);
    const csv = await client.request('/rates/latest', { symbols: ['XAU'], format: 'csv' });
    expect(csv.headers.get('content-type')).toContain('text/csv');
    expect(await csv.text()).toContain('2358.2');
    const traced = await client.request('/usage', {}, { headers: { 'x-trace': '1' } });
    expect(new TextDecoder().decode(await traced.arrayBuffer())).toContain('"plan"');
  });

  test('history has all pages and all rows, with conversions and intervals', async () => {
    const pages = await Array.fromAsync(clientOf().history({ ...RANGE, interval: 'month', unit: 'kg' }));
    expect(pages.flatMap(({ rates }) => rates.map(({ symbol, count }) => [symbol, count]))).toEqual([
      ['XAU', 3],
      ['XAG', 3],
    ]);
    const rows = await Array.fromAsync(clientOf().history(RANGE).rows());
    expect(rows.map(({ date, symbol }) => `${date} ${symbol}`)).toHaveLength(6);
  });

  test('a loop over the rows that ends early can be continued without losing a row', async () => {
    const history = clientOf().history(RANGE);
    const dates: string[] = [];
    const read = async (count: number) => {
      for await (const { date, symbol } of history.rows()) {
        dates.push(`${date} ${symbol}`);
        if (dates.length === count) break;
      }
    };
    for (const count of [1, 4, 7]) await read(count);
    expect(dates).toHaveLength(6);
    expect(new Set(dates).size).toBe(6);
  });

  test('prices are strings with the published digits on request; counts and times stay numbers', async () => {
    const client = new Openpit({ url: api.service.url, key: api.key, decimals: 'string' });
    const { rates, timestamp } = await client.latest(['XAU']);
    expect([rates.XAU, typeof timestamp]).toEqual(['2358.2', 'number']);
    const [row] = await Array.fromAsync(client.history({ ...RANGE, symbols: ['XAU'] }).rows());
    expect(row).toMatchObject({ close: '2350.10000000001', count: 1 });
  });

  test('polling costs one unit while nothing changes, and another after a change', async () => {
    const key = await api.service.key('pro');
    const client = clientOf(key);
    for (let i = 0; i < 5; i++) expect((await client.latest(['XAU'])).rates.XAU).toBe(2358.2);
    expect((await client.usage()).used).toBe(1);
    await api.service.tick('XAU', 2361.5);
    api.service.clock.time += 3_600_000; // past the delay of any plan
    await api.service.core.follow();
    expect((await client.latest(['XAU'])).rates.XAU).toBe(2361.5);
    expect((await client.usage()).used).toBe(2);
  });

  test('a table of CSV or NDJSON is a string, also from the cache, and its response has its type', async () => {
    const client = clientOf(await api.service.key('unlimited'));
    const query = { symbols: ['XAU'], date: '2024-05-13' };
    for (const _ of ['new', 'cached']) {
      expect(await client.get<string>('/rates/historical.csv', query)).toStartWith('date,symbol,open,');
      const lines = await client.get<string>('/rates/historical', { ...query, format: 'ndjson' });
      expect(JSON.parse(lines).symbol).toBe('XAU');
      const { headers } = await client.request('/rates/historical.csv', query);
      expect(headers.get('content-type')).toStartWith('text/csv');
    }
    expect((await client.dryRun('/rates/historical.csv', query)).cost).toBe(1);
    expect((await failure(client.get('/rates/historical.csv'))).code).toBe('missing_parameter');
    expect((await client.usage()).used).toBe(2);
  });

  test('a table of Parquet is bytes, also from the cache', async () => {
    const client = clientOf(await api.service.key('unlimited'));
    const query = { symbols: ['XAU'], date: '2024-05-13' };
    for (const _ of ['new', 'cached']) {
      const bytes = await client.get<ArrayBuffer>('/rates/historical.parquet', query);
      expect(Buffer.from(bytes).toString('latin1', 0, 4)).toBe('PAR1');
    }
    expect((await client.usage()).used).toBe(1);
  });

  test('a path without its slash is not added to the name of the host', async () => {
    const { rates } = await clientOf().get<Latest>('rates/latest', { symbols: ['XAU'] });
    expect(rates.XAU).toBeGreaterThan(2_000);
  });

  test('a cached answer cannot be changed by its receiver', async () => {
    const client = clientOf();
    (await client.symbols()).symbols.length = 0;
    expect((await client.symbols()).symbols.length).toBeGreaterThan(100);
  });

  test('each version has its path and its envelope, whether the URL names it or the option', async () => {
    for (const url of [api.service.url, `${api.service.url}/`, `${api.service.url}/v2/`]) {
      const client = new Openpit({ url, key: api.key, version: 'v2' });
      expect((await client.historical(['XAU'], '2024-05-13')).rates.XAU?.date).toBe('2024-05-13');
      const error = await failure(client.latest(['NOPE']));
      expect(error).toBeInstanceOf(NotFound);
    }
    const partial = await new Openpit({ url: api.service.url, key: api.key, version: 'v3' }).latest([
      'XAU',
      'NOPE',
    ]);
    expect(Object.keys(partial.unresolved ?? {})).toEqual(['NOPE']);
  });

  test('errors have a class by their code, the text of the service, and advice', async () => {
    const small = clientOf(await api.service.key('small'));
    const cases: [call: () => Promise<unknown>, type: new (...args: never[]) => Error, code: string][] = [
      [() => clientOf().latest([]), InvalidRequest, 'invalid_symbols'],
      [() => clientOf().latest(['XAUU']), NotFound, 'unknown_symbol'],
      [() => clientOf().get('/rate'), NotFound, 'not_found'],
      [() => clientOf('wrong').latest(['XAU']), InvalidKey, 'invalid_key'],
      [() => new Openpit({ url: api.service.url }).usage(), InvalidKey, 'http_401'],
      [() => Array.fromAsync(small.history(RANGE)), NotAllowed, 'history_not_in_plan'],
    ];
    for (const [call, type, code] of cases) {
      const error = await failure(call());
      expect(error).toBeInstanceOf(type);
      expect(error.name).toBe(type.name);
      expect(error.message.length).toBeGreaterThan(20);
      expect(error.advice.length).toBeGreaterThan(20);
      expect(error.code).toBe(code);
    }
    expect((await failure(clientOf().get('/rate'))).advice).toStartWith(
      'Change the request as the message says.',
    );
    await small.latest(['XAU']);
    await small.latest(['XAG']);
    const exhausted = await failure(small.symbols());
    expect(exhausted).toBeInstanceOf(QuotaExhausted);
    expect(exhausted.resetAt).toBe(Math.floor((await api.service.resetAt()) / 1000));
  });

  test('a request to a service that is starting is repeated until it is answered', async () => {
    const { core } = api.service;
    core.phase = 'starting';
    const answer = clientOf().latest(['XAU']);
    setTimeout(() => {
      core.phase = 'ready';
    }, 50);
    expect((await answer).success).toBe(true);
    core.phase = 'starting';
    const error = await failure(
      new Openpit({ url: api.service.url, key: api.key, retries: 0 }).latest(['XAU']),
    );
    core.phase = 'ready';
    expect(error).toBeInstanceOf(Unavailable);
    expect(error.retryAfter).toBe(1);
  });

  test('other programs of the account can use up the burst limit: the call waits and is repeated', async () => {
    const key = await api.service.key('slow');
    const once = new Openpit({ url: api.service.url, key, retries: 0 });
    for (let i = 0; i < 5; i++) await api.ask('/usage', { key });
    expect(await failure(once.latest(['XAG']))).toBeInstanceOf(RateLimited);
    const answer = clientOf(key).latest(['XAG']);
    api.service.clock.time += 1_000;
    expect((await answer).success).toBe(true);
  });
});
