import { describe, expect, test } from 'bun:test';
import { errorOf } from '../../client/src/errors.ts';
import {
  ConnectionLost,
  InvalidKey,
  InvalidRequest,
  NotAllowed,
  NotFound,
  Openpit,
  type OpenpitError,
  QuotaExhausted,
  RateLimited,
  Unavailable,
} from '../../client/src/index.ts';
import { ERROR_STATUSES } from '../../src/api/errors/errors.ts';
import { familyCodeOf } from '../../src/api/versions/dialects.ts';
import { apiOn } from '../support/api.ts';

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
  const failure = (call: Promise<unknown>): Promise<OpenpitError> =>
    call.then(
      () => Promise.reject(new Error('it succeeded')),
      (error) => error,
    );

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
    expect((await failure(client.get('/rates/latest', { symbols: ['XAU'], format: 'csv' }))).code).toBe(
      'invalid_response',
    );
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

  const HTML = '<html>\n<head><title>Login</title></head>';
  const FROM_GATEWAYS: [what: string, answer: () => Response, message: string][] = [
    [
      'a page with status 200',
      () => new Response(HTML, { headers: { 'content-type': 'text/html; charset=utf-8' } }),
      'Received text/html with the status 200 ("<html> <head><title>Login</title></head>")',
    ],
    [
      'a page with status 502',
      () => new Response(HTML, { status: 502, headers: { 'content-type': 'text/html' } }),
      'Received text/html with the status 502',
    ],
    ['nothing', () => new Response(null), 'Received an empty body with the status 200'],
    ['null', () => Response.json(null), 'Received application/json with the status 200 ("null")'],
    ['a list', () => Response.json([1]), 'Received application/json with the status 200 ("[1]")'],
    [
      'a list with status 500',
      () => Response.json([1], { status: 500 }),
      'Received application/json with the status 500',
    ],
  ];
  test.each(FROM_GATEWAYS)('%s instead of an answer is reported as received', async (_, answer, message) => {
    using gateway = Bun.serve({ port: 0, fetch: answer });
    const client = new Openpit({ url: gateway.url.href, key: 'secret', retries: 0 });
    const error = await failure(client.latest(['XAU']));
    expect(error.message).toStartWith(message);
    expect(error.message).toEndWith(
      'where a JSON object was expected. Check the option "url", and proxies and gateways in between.',
    );
    expect(error.code).toBe('invalid_response');
    expect(error.message).not.toContain('secret');
  });

  test('a page instead of a stream ends it, instead of being requested for ever', async () => {
    const headers = { 'content-type': 'text/html' };
    using gateway = Bun.serve({ port: 0, fetch: () => new Response(HTML, { headers }) });
    const client = new Openpit({ url: gateway.url.href });
    const error = await failure(Array.fromAsync(client.stream(['XAU'])));
    expect(error.message).toStartWith('Received text/html with the status 200 ("<html>');
  });

  test('an error of a gateway with unusual fields still has a message', async () => {
    const body = { error: { code: 7 }, message: { text: 'no' }, code: ['x'] };
    using gateway = Bun.serve({ port: 0, fetch: () => Response.json(body, { status: 403 }) });
    const error = await failure(new Openpit({ url: gateway.url.href }).usage());
    expect([error.message, error.code]).toEqual(['The service answered with the status 403.', 'http_403']);
  });

  test('a Retry-After may be a date, and one that is far away is left to the caller, in a stream, too', async () => {
    const after = (value: string) => errorOf(503, {}, new Headers({ 'retry-after': value })).retryAfter;
    expect([after('7'), after('Wed, 21 Oct 2015 07:28:00 GMT'), after('soon')]).toEqual([7, 0, undefined]);
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
    expect(after(inAnHour)).toBeGreaterThan(3_500);
    using gateway = Bun.serve({
      port: 0,
      fetch: () => Response.json({}, { status: 503, headers: { 'retry-after': inAnHour } }),
    });
    const client = new Openpit({ url: `${gateway.url}` });
    expect(await failure(client.latest(['XAU']))).toBeInstanceOf(Unavailable);
    expect(await failure(client.stream(['XAU']).next())).toBeInstanceOf(Unavailable);
  }, 10_000);

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
    await small.latest(['XAU']);
    await small.latest(['XAG']);
    const exhausted = await failure(small.symbols());
    expect(exhausted).toBeInstanceOf(QuotaExhausted);
    expect(exhausted.resetAt).toBe(Math.floor((await api.service.resetAt()) / 1000));
  });

  test('the code of a later version has the same class as ours', () => {
    for (const { code, status } of ERROR_STATUSES) {
      if (code === 'history_not_in_plan') continue; // LIMIT_REACHED there
      const own = errorOf(status, { success: false, message: 'x', code });
      const hosted = errorOf(status, { success: false, message: 'x', error: familyCodeOf(code) });
      expect(hosted.constructor, code).toBe(own.constructor);
    }
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

  test('a call can be cancelled, and ends after its timeout', async () => {
    using silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
    const client = new Openpit({ url: `http://127.0.0.1:${silent.port}`, key: 'x', retries: 0 });
    const timedOut = await failure(client.latest(['XAU'], {}, { timeoutMs: 30 }));
    expect(timedOut).toBeInstanceOf(ConnectionLost);
    expect([timedOut.code, timedOut.mayBeCounted]).toEqual(['timeout', true]);
    const cancelling = new AbortController();
    const reason = new Error('no longer needed');
    const call = failure(client.latest(['XAU'], {}, { signal: cancelling.signal }));
    cancelling.abort(reason);
    expect(await call).toBe(reason as OpenpitError);
    expect(await failure(client.latest(['XAU'], {}, { signal: cancelling.signal }))).toBe(
      reason as OpenpitError,
    );
  });

  test('without a service, the error says that nothing was sent', async () => {
    const closed = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
    const { port } = closed;
    closed.stop(true);
    const error = await failure(new Openpit({ url: `http://127.0.0.1:${port}`, retries: 1 }).symbols());
    expect(error).toBeInstanceOf(ConnectionLost);
    expect(error.mayBeCounted).toBe(false);
    expect(error.message).toStartWith('There is no connection: ');
    expect(error.message).not.toMatch(/(\w{5,}) \1/); // the code, and a message that begins with it
  });
});
