import { describe, expect, test } from 'bun:test';
import {
  fakeRuntime,
  respondWithBytes,
  StubServer,
  streamOf,
} from '../../../test/support/feeds/stub-server.ts';
import { heldBytes } from '../../../test/support/monitoring/memory.ts';
import { type BodyRequest, FETCH_LIMITS, fetchBody } from './http-client.ts';

const NOW = Date.parse('2026-07-15T14:00:00Z');
const CSV = 'date,GOLD\n2026-07-14,4000.5\n';
const server = new StubServer();

async function ask(changes: Partial<BodyRequest> = {}, limits = FETCH_LIMITS) {
  const runtime = fakeRuntime(NOW);
  const url = changes.url ?? `${server.url}/prices.csv`;
  let attempts = 0;
  const answer = await fetchBody(
    {
      url,
      hosts: new Set([new URL(url).host]),
      kind: 'csv',
      etag: undefined,
      lastModified: undefined,
      signal: new AbortController().signal,
      onAttempt: async () => void attempts++,
      ...changes,
    },
    runtime,
    limits,
  );
  return { answer, slept: runtime.slept, attempts };
}

const text = (body: string, init?: ResponseInit) => () => new Response(body, init);

describe('a successful response', () => {
  test('returns the body and its validators', async () => {
    const headers = { etag: '"a"', 'last-modified': 'Tue, 14 Jul 2026 20:00:00 GMT' };
    server.respond = text(CSV, { headers });
    const { answer, attempts } = await ask();
    expect(answer).toMatchObject({ outcome: 'body', etag: '"a"', lastModified: headers['last-modified'] });
    expect(answer.outcome === 'body' && new TextDecoder().decode(answer.body)).toBe(CSV);
    expect(attempts).toBe(1);
  });

  test('may be compressed', async () => {
    const packed = Bun.gzipSync(CSV);
    server.respond = () => new Response(packed, { headers: { 'content-encoding': 'gzip' } });
    const { answer } = await ask();
    expect(answer.outcome === 'body' && new TextDecoder().decode(answer.body)).toBe(CSV);
  });

  test('may be a 304 to a conditional request', async () => {
    server.respond = (request) =>
      new Response(null, { status: request.headers.has('if-none-match') ? 304 : 500 });
    expect((await ask({ etag: '"a"' })).answer).toEqual({ outcome: 'unchanged' });
    server.respond = (request) =>
      new Response(null, { status: request.headers.has('if-modified-since') ? 304 : 500 });
    expect((await ask({ lastModified: 'Tue, 14 Jul 2026 20:00:00 GMT' })).answer).toEqual({
      outcome: 'unchanged',
    });
  });

  test('of 304 to an unconditional request is a failure', async () => {
    server.respond = text('', { status: 304 });
    expect((await ask()).answer).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('304') });
  });
});

describe('a retry', () => {
  test('follows a 500, after a growing pause', async () => {
    const bad = text('oops', { status: 500 });
    server.respondInTurn(bad, bad, text(CSV));
    const { answer, slept } = await ask();
    expect(answer.outcome).toBe('body');
    expect(slept).toEqual([1_000, 4_000]);
  });

  test('happens at most twice', async () => {
    server.respond = text('oops', { status: 502 });
    const { answer, attempts } = await ask();
    expect(answer).toEqual({
      outcome: 'failed',
      reason: 'the provider answered 502 (3 attempts)',
      isOutage: true,
      status: 502,
    });
    expect(attempts).toBe(3);
  });

  test.each([
    ['seconds', '7', 7_000],
    ['a date', new Date(NOW + 9_000).toUTCString(), 9_000],
    ['a date that has passed', new Date(NOW - 9_000).toUTCString(), 1_000],
    ['nonsense', 'soon', 1_000],
  ])('comes when Retry-After says so, in %s', async (_, header, pauseMs) => {
    server.respondInTurn(text('', { status: 429, headers: { 'retry-after': header } }), text(CSV));
    const { answer, slept } = await ask();
    expect(answer.outcome).toBe('body');
    expect(slept).toEqual([pauseMs]);
  });

  test('follows the usual pause if Retry-After is 0, and the failure does not say when to come back', async () => {
    server.respond = text('', { status: 503, headers: { 'retry-after': '0' } });
    const { answer, slept } = await ask();
    expect(slept).toEqual([1_000, 4_000]);
    expect(answer).not.toHaveProperty('comeBackMs');
  });

  test('does not happen if Retry-After is too long; the failure says when to come back', async () => {
    server.respond = text('', { status: 503, headers: { 'retry-after': '3600' } });
    const { answer, slept } = await ask();
    expect(answer).toEqual({
      outcome: 'failed',
      reason: 'the provider answered 503',
      isOutage: true,
      status: 503,
      comeBackMs: 3_600_000,
    });
    expect(slept).toEqual([]);
  });

  test('does not follow a 404 or 403', async () => {
    for (const status of [404, 403, 204]) {
      server.respond = text('', { status });
      const { answer, attempts } = await ask();
      expect(answer).toMatchObject({ outcome: 'failed', reason: `the provider answered ${status}` });
      expect(attempts).toBe(1);
    }
  });

  test('follows a connection that closes in the middle of the body', async () => {
    const url = await respondWithBytes(
      'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\ndate,GOLD\n',
      (socket) => socket.end(),
    );
    const { answer, attempts } = await ask({ url });
    expect(answer).toEqual({
      outcome: 'failed',
      reason: 'the connection closed before the response was complete (3 attempts)',
      isOutage: true,
    });
    expect(attempts).toBe(3);
  });

  test('follows a response that is not HTTP; the reason is without the URL, which may contain a key', async () => {
    const heads = {
      Malformed_HTTP_Response: 'HTTP/1.1 200 OK\r\netag: "\x01"\r\n\r\n',
      InvalidContentLength: 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n',
    };
    for (const [name, head] of Object.entries(heads)) {
      const url = await respondWithBytes(head, (socket) => void socket.end());
      const { answer } = await ask({ url: `${url}/prices.csv?api_key=secret` });
      expect(answer).toMatchObject({ reason: `the connection failed: ${name} (3 attempts)`, isOutage: true });
    }
  });

  test('follows a body that cannot be decompressed; the reason is without the URL, which may contain a key', async () => {
    for (const encoding of ['gzip', 'br', 'zstd']) {
      server.respond = text('neither', { headers: { 'content-encoding': encoding } });
      const { answer, attempts } = await ask({ url: `${server.url}/prices.csv?api_key=secret` });
      expect(answer).toEqual({
        outcome: 'failed',
        reason: 'the compressed body is damaged (3 attempts)',
        isOutage: true,
      });
      expect(attempts).toBe(3);
    }
  });

  test('follows a refused connection', async () => {
    const { answer } = await ask({ url: 'http://127.0.0.1:1/' });
    expect(answer).toMatchObject({ reason: 'the provider could not be reached (3 attempts)' });
  });
});

describe('a timeout', () => {
  const limits = { ...FETCH_LIMITS, timeoutMs: 60, attempts: 1 };

  test.each([
    ['before the head', ''],
    ['in the middle of the head', 'HTTP/1.1 200 OK\r\nContent-'],
    ['in the middle of the body', 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\ndate,GOLD\n'],
  ])('%s ends when the time is over', async (_, head) => {
    const url = await respondWithBytes(head, () => {});
    const { answer } = await ask({ url }, limits);
    expect(answer).toMatchObject({
      outcome: 'failed',
      reason: 'no complete response within 0.06 s',
    });
  });

  test('applies to a body that trickles forever', async () => {
    const url = await respondWithBytes('HTTP/1.1 200 OK\r\n\r\n', (socket) => {
      const drip = setInterval(() => socket.write('1,'), 5);
      socket.on('close', () => clearInterval(drip));
    });
    const { answer } = await ask({ url }, limits);
    expect(answer).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('no complete response'),
    });
  });

  test('ends at once when the program stops', async () => {
    const url = await respondWithBytes('', () => {});
    const stop = new AbortController();
    const asked = ask({ url, signal: stop.signal });
    stop.abort();
    expect((await asked).answer).toEqual({ outcome: 'failed', reason: 'the run was stopped' });
  });
});

describe('a body', () => {
  test('of 100 MB is aborted after 20 MiB, and memory stays flat', async () => {
    server.respond = () => new Response(streamOf(100_000_000));
    await ask(); // what the first time costs is not this test's matter
    const before = heldBytes();
    for (let i = 0; i < 3; i++) {
      const { answer, attempts } = await ask();
      expect(answer).toEqual({ outcome: 'failed', reason: 'the body is longer than 20971520 bytes' });
      expect(attempts).toBe(1);
    }
    expect(heldBytes() - before).toBeLessThan(5 * 1024 * 1024);
  }, 180_000);

  test('with a Content-Length above the limit is not read at all', async () => {
    const url = await respondWithBytes('HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n', () => {}); // and then silence
    expect((await ask({ url })).answer).toMatchObject({ reason: 'the body is longer than 20971520 bytes' });
  });

  test('that decompresses to more than the limit is aborted as well', async () => {
    const bomb = Bun.gzipSync('0,'.repeat(30_000_000));
    server.respond = () => new Response(bomb, { headers: { 'content-encoding': 'gzip' } });
    expect((await ask()).answer).toMatchObject({ reason: 'the body is longer than 20971520 bytes' });
  });

  test.each([
    ['<!DOCTYPE html><html><body>Are you a robot?</body></html>', 'the body is HTML where CSV was expected'],
    ['{"error":"limit"}', 'the body is JSON where CSV was expected'],
    ['', 'the body is empty where CSV was expected'],
    ['a\0b', 'the body is binary where CSV was expected'],
  ])('%j with status 200 is not taken for CSV', async (body, reason) => {
    server.respond = text(body);
    const { answer, attempts } = await ask();
    expect(answer).toMatchObject({ outcome: 'failed', reason });
    expect(attempts).toBe(1);
  });
});

describe('hosts', () => {
  const redirect = (location: string) => () => new Response(null, { status: 302, headers: { location } });

  test('a redirect within the provider is followed', async () => {
    server.respondInTurn(redirect('/new.csv'), text(CSV));
    expect((await ask()).answer.outcome).toBe('body');
    expect(server.requests.at(-1)!.path).toBe('/new.csv');
  });

  test('a redirect to another host is not followed, not even to another port of the same host', async () => {
    const other = new StubServer();
    other.respond = text(CSV);
    for (const target of [`${other.url}/x`, 'https://evil.example/x']) {
      server.respond = redirect(target);
      expect((await ask()).answer).toEqual({
        outcome: 'failed',
        reason: `redirected: ${new URL(target).host} is not a host of this provider`,
      });
    }
    expect(other.requests).toEqual([]);
  });

  test('a redirect loop ends', async () => {
    server.respond = redirect('/prices.csv');
    expect((await ask()).answer).toMatchObject({ reason: 'more than 5 redirects' });
  });

  test('only this machine is contacted without TLS', async () => {
    const { answer } = await ask({ url: 'http://prices.example/x.csv' });
    expect(answer).toMatchObject({ reason: 'prices.example must be contacted over TLS' });
    const file = await ask({ url: 'file:///etc/passwd' });
    expect(file.answer.outcome).toBe('failed');
  });
});
