import { expect, spyOn, test } from 'bun:test';
import { errorOf } from '../../client/src/errors.ts';
import { ConnectionLost, Openpit, type OpenpitError, Unavailable } from '../../client/src/index.ts';
import { ERROR_STATUSES } from '../../src/api/errors/errors.ts';
import { familyCodeOf } from '../../src/api/versions/dialects.ts';
import { eventually } from '../support/program.ts';
import { failure } from './failure.ts';

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

test('a redirect is reported and not followed, so that no other address gets the key', async () => {
  const keys: (string | null)[] = [];
  using other = Bun.serve({
    port: 0,
    fetch({ headers }) {
      keys.push(headers.get('x-api-key'));
      return Response.json({ success: true, rates: {} });
    },
  });
  const target = `${other.url}v1/rates/latest`;
  using gateway = Bun.serve({
    port: 0,
    fetch: ({ method }) =>
      Response.json({}, { status: method === 'POST' ? 307 : 301, headers: { location: target } }),
  });
  const client = new Openpit({ url: gateway.url.href, key: 'secret' });
  for (const call of [
    () => client.latest(['XAU']),
    () => client.request('/account/keys', {}, { method: 'POST', body: {} }),
    () => client.stream(['XAU']).next(),
  ]) {
    const error = await failure(call());
    expect(error.message).toBe(
      `Received a redirect to ${target}, which must not get the key. Check the option "url".`,
    );
    expect([error.code, error.mayBeCounted]).toEqual(['redirected', false]);
  }
  expect(keys).toEqual([]);
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

test('an address without https:// is reported as such, and not as a request that may have been counted', async () => {
  const error = await failure(new Openpit({ url: 'rates.example.org', retries: 0 }).latest(['XAU']));
  expect(error).toBeInstanceOf(ConnectionLost);
  expect(error.message).toBe('There is no connection: fetch() URL is invalid');
  expect(error.mayBeCounted).toBe(false);
  // Node and Deno
  for (const message of ['Failed to parse URL from rates.example.org/rates/latest', "Invalid URL: '/'"]) {
    using _fetch = spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError(message));
    const elsewhere = await failure(new Openpit({ url: 'rates.example.org', retries: 0 }).usage());
    expect(elsewhere.mayBeCounted, message).toBe(false);
  }
});

test('a key that cannot be sent is refused when the client is created', () => {
  for (const key of ['…', 'a\nb']) {
    expect(() => new Openpit({ url: 'http://127.0.0.1', key })).toThrow(TypeError);
  }
  new Openpit({ url: 'http://127.0.0.1', key: 'from a file\n' });
});

test('the code of a later version has the same class as ours', () => {
  for (const { code, status } of ERROR_STATUSES) {
    if (code === 'history_not_in_plan') continue; // LIMIT_REACHED there
    if (code === 'already_charged') continue; // the id of a request means nothing there
    const own = errorOf(status, { success: false, message: 'x', code });
    const hosted = errorOf(status, { success: false, message: 'x', error: familyCodeOf(code) });
    expect(hosted.constructor, code).toBe(own.constructor);
  }
});

test('a stream waits for its consumer: silence is measured only while it waits for the service', async () => {
  const encoder = new TextEncoder();
  using service = Bun.serve({
    port: 0,
    fetch: () => {
      const body = new ReadableStream({
        start: (controller) => {
          controller.enqueue(encoder.encode('id: a-0-1\nevent: rate\ndata: {"symbol":"XAU","rate":1}\n\n'));
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  const running = new Set<unknown>();
  const { setTimeout: start, clearTimeout: stop } = globalThis;
  using _started = spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms: number) => {
    const timer = start(run, ms);
    if (ms === 20_000) running.add(timer);
    return timer;
  }) as typeof setTimeout);
  using _stopped = spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    running.delete(timer);
    stop(timer as ReturnType<typeof setTimeout>);
  });
  const leaving = new AbortController();
  const stream = new Openpit({ url: service.url.origin }).stream(['XAU'], { signal: leaving.signal });
  await stream.next();
  expect(running.size).toBe(0); // the consumer may take its time
  const next = stream.next();
  await eventually(async () => running.size === 1);
  leaving.abort(new Error('enough'));
  await expect(next).rejects.toThrow('enough');
});
