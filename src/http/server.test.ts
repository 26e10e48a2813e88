import { afterAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import fc from 'fast-check';
import * as raw from '../../test/support/http/raw-http.ts';
import {
  bodyOf,
  credentialsFor,
  get,
  ManualTime,
  post,
  READY,
  serveHere,
  TRANSPORTS,
} from '../../test/support/http/raw-http.ts';
import { eventually } from '../../test/support/program.ts';
import { bufferPool } from './message/buffer-pool.ts';
import type { IncomingRequest } from './message/incoming-request.ts';
import { type RawReply, reply } from './message/reply.ts';
import type { ServerOptions } from './server-options.ts';

/** Only /echo reads its body. The other paths show what happens to a body that the handler ignores. */
async function respond(request: IncomingRequest) {
  const { method, url } = request;
  if (url === '/echo')
    return reply(await request.bytes().catch((error: Error) => `failed: ${error.message}`), {});
  if (url === '/late') await Bun.sleep(30);
  if (url === '/stream') return reply(countdown(3), { 'Content-Type': 'text/plain' });
  if (url === '/endless') return reply(endless(), {});
  if (url === '/large') return reply('x'.repeat(5_000_000), {});
  if (url === '/bytes') return reply(new Uint8Array(5_000_000).fill(120), {});
  if (url === '/pooled') return pooled(5_000_000);
  if (url === '/empty') return reply(null, {}, 204);
  return reply(`${method} ${url}`, { 'X-Evil': 'a\r\nX-Injected: 1' });
}

let released = 0;
function pooled(length: number): RawReply {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`;
  const bytes = bufferPool.acquire(head.length + length);
  bytes.memory.fill(120).latin1Write(head, 0);
  bytes.whenReleased(() => released++);
  return { status: 200, bytes };
}

let canceled = 0;
function endless(): ReadableStream<Uint8Array> {
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    controller.enqueue(new Uint8Array(100_000));
  return new ReadableStream({ pull, cancel: () => void canceled++ });
}

function countdown(from: number): ReadableStream<Uint8Array> {
  let left = from;
  return new ReadableStream({
    pull(controller) {
      if (left === 0) controller.close();
      else controller.enqueue(Buffer.from(`${left--} `));
    },
  });
}

describe.each(TRANSPORTS)('over %s,', (transport) => {
  const server = serveHere({
    handle: (request) => (request.url === '/ready' ? READY : respond(request)),
    refuse: ({ status }) => reply(null, {}, status),
    tls: credentialsFor(transport),
    everySecond: () => () => {}, // no time limit applies
  });
  afterAll(() => server.stop(0));

  const open = () => raw.open(server.port, transport);
  const send = (bytes: string) => raw.send(server.port, bytes, transport);
  const sendAll = (bytes: string) => raw.sendAll(server.port, bytes, transport);

  describe('a response', () => {
    test('has a date and a length, and no injected header', async () => {
      const answer = await sendAll(get('/a?b=c'));
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\nDate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\r\n/);
      expect(answer).toContain('\r\nContent-Length: 10\r\n');
      expect(answer).not.toContain('\r\nX-Injected');
      expect(bodyOf(answer)).toBe('GET /a?b=c');
    });

    test('to HEAD has the length of the body and no body', async () => {
      const answer = await sendAll('HEAD /ab HTTP/1.1\r\nHost: a\r\n\r\n');
      expect(answer).toContain('\r\nContent-Length: 8\r\n');
      expect(bodyOf(answer)).toBe('');
    });

    test('of status 204 has no length', async () => {
      const answer = await sendAll(get('/empty'));
      expect(answer).toStartWith('HTTP/1.1 204 No Content\r\n');
      expect(answer).not.toContain('Content-Length');
    });

    test('that is streamed is chunked, and for HTTP/1.0 ends with the connection', async () => {
      expect(bodyOf(await sendAll(get('/stream')))).toBe('2\r\n3 \r\n2\r\n2 \r\n2\r\n1 \r\n0\r\n\r\n');
      const old = await send('GET /stream HTTP/1.0\r\n\r\n');
      expect(old).not.toContain('Transfer-Encoding');
      expect(bodyOf(old)).toBe('3 2 1 ');
    });

    test.each(['/large', '/bytes', '/pooled'])(
      'larger than the socket buffers (%s) is sent completely',
      async (path) => {
        const { socket, all } = open();
        socket.pause();
        socket.write(get(path, 'Connection: close\r\n'));
        setTimeout(() => socket.resume(), 100);
        const answer = await all;
        expect(bodyOf(answer)).toBe('x'.repeat(5_000_000));
        const headers = answer.slice(0, -5_000_000).match(/^(Connection|Strict-Transport-Security)/gm) ?? [];
        expect(headers).toHaveLength(transport === 'TLS' ? 2 : 1);
      },
    );

    test('in a pooled buffer keeps it until the client has read its end, or has disconnected', async () => {
      const before = released;
      const { socket } = open();
      socket.pause();
      socket.write(get('/pooled', 'Connection: close\r\n'));
      await sendAll(get('/well'));
      expect(released).toBe(before);
      socket.destroy();
      await eventually(async () => released === before + 1);
    });

    test('that is streamed without end is canceled when the client disconnects, and is not buffered for a slow client', async () => {
      const before = canceled;
      const { socket } = open();
      socket.pause();
      socket.write(get('/endless'));
      await Bun.sleep(100);
      const memory = process.memoryUsage().rss;
      await Bun.sleep(200);
      expect(process.memoryUsage().rss - memory).toBeLessThan(100_000_000);
      socket.destroy();
      for (let i = 0; i < 100 && canceled === before; i++) await Bun.sleep(20);
      expect(canceled).toBe(before + 1);
    });
  });

  describe('a connection', () => {
    test('stays open for the next request', async () => {
      const { socket, all, got } = open();
      socket.write(get('/one'));
      while (!got().includes('GET /one')) await Bun.sleep(1);
      socket.write(get('/two', 'Connection: close\r\n'));
      const answers = await all;
      expect(answers).toContain('GET /two');
      expect(answers.match(/Connection: close/g)).toHaveLength(1);
    });

    test('is closed for HTTP/1.0 unless the client asks for keep-alive, also after a raw response', async () => {
      for (const path of ['/a', '/ready']) {
        const closed = await send(`GET ${path} HTTP/1.0\r\n\r\n`);
        expect(closed).toStartWith('HTTP/1.1 200 OK\r\n');
        expect(closed).toContain('\r\nConnection: close\r\n');
        const kept = await sendAll(`GET ${path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`);
        expect(kept).toContain('\r\nConnection: keep-alive\r\n');
      }
    });

    test('responds to a client that has closed its sending side', async () => {
      expect(bodyOf(await sendAll(get('/late')))).toBe('GET /late');
    });

    test('is closed after the last response to a client that stopped sending, whatever follows its last complete request', async () => {
      for (const rest of ['\r\n', '\r\n\r\n', 'GET /half', 'GET /a HTTP/1.1\r\nHost: a\r\n'])
        expect(bodyOf(await sendAll(get('/late') + rest))).toBe('GET /late');
    });

    test('responds to 1,000 pipelined requests in order', async () => {
      const paths = Array.from({ length: 1_000 }, (_, i) =>
        i % 50 === 0 ? '/late' : i % 3 ? `/${i}` : '/ready',
      );
      const answers = await sendAll(paths.map((path) => get(path)).join(''));
      const bodies = [...answers.matchAll(/\r\n\r\n(GET (\S+?)|ready)(?=HTTP\/1\.1|$)/g)].map(
        (m) => m[2] ?? '/ready',
      );
      expect(bodies).toEqual(paths);
    });

    test('gives the same responses however the requests are split into packets', async () => {
      const request = fc.oneof(
        fc.constantFrom(get('/a'), get('/ready'), get('/late'), '\r\n'),
        fc.string({ maxLength: 30 }).map((body) => post('/echo', body)),
        fc.string({ minLength: 1, maxLength: 30 }).map((body) => {
          const chunk = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`;
          return post('/echo', chunk, 'Transfer-Encoding: chunked\r\n');
        }),
        fc.string({ maxLength: 30 }).map((body) => post('/ignored', body)),
      );
      const requests = fc.array(request, { minLength: 1, maxLength: 8 });
      const withoutDate = (text: string) => text.replaceAll(/Date: [^\r]+/g, '');
      await fc.assert(
        fc.asyncProperty(requests, fc.array(fc.nat(400), { maxLength: 5 }), async (list, at) => {
          const bytes = Buffer.from(list.join(''));
          const whole = await sendAll(bytes.toString('utf8'));
          const { socket, all } = open();
          const places = [...at.map((one) => one % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
          let from = 0;
          for (const to of places) {
            socket.write(bytes.subarray(from, to));
            await Bun.sleep(1);
            from = to;
          }
          socket.end();
          expect(withoutDate(await all)).toBe(withoutDate(whole));
        }),
        { numRuns: 40 },
      );
    }, 180_000);
  });

  describe('a body', () => {
    test('is delivered to a handler that reads it, and skipped otherwise', async () => {
      const answers = await sendAll(
        post('/echo', 'hällo') + post('/a', 'GET /smuggled HTTP/1.1') + get('/b'),
      );
      expect(Buffer.from(answers, 'latin1').toString()).toContain('\r\n\r\nhällo');
      expect(answers).toContain('POST /a');
      expect(answers).toEndWith('GET /b');
      expect(answers).not.toContain('smuggled');
    });

    test('is requested with "100 Continue" if the client expects it', async () => {
      const { socket, all, got } = open();
      socket.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n');
      while (!got().includes('100 Continue\r\n\r\n')) await Bun.sleep(1);
      socket.end('ok');
      expect(await all).toEndWith('\r\n\r\nok');
    });

    test('that is long and not read by the handler closes the connection', async () => {
      const { socket, all } = open();
      socket.write('POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 900000000\r\n\r\nxxx');
      const answer = await all;
      expect(answer).toContain('Connection: close');
      expect(answer).toEndWith('POST /a');
    });

    test('that is too long, invalid or incomplete fails for the handler, and closes the connection', async () => {
      const large = await send('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\nxxx');
      expect(bodyOf(large)).toBe('failed: the body is longer than 1048576 bytes');
      const broken = await send(
        post('/echo', 'zz\r\nGET / HTTP/1.1\r\n\r\n', 'Transfer-Encoding: chunked\r\n'),
      );
      expect(bodyOf(broken)).toBe('failed: the size of a chunk is not a number');
      const short = await sendAll('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc');
      expect(bodyOf(short)).toBe('failed: the body ends too soon');
    });
  });

  describe('a request that cannot be parsed', () => {
    test('is refused with a bare status, and nothing after it is processed', async () => {
      const answer = await send(
        `POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n${get('/b')}`,
      );
      expect(answer).toMatch(
        /^HTTP\/1\.1 400 Bad Request\r\nDate: [^\r]+\r\nConnection: close\r\n(Strict-Transport-Security: [^\r]+\r\n)?Content-Length: 0\r\n\r\n$/,
      );
    });

    test('is refused as soon as it is too long', async () => {
      expect(await send(`GET /${'x'.repeat(17_000)}`)).toStartWith('HTTP/1.1 431 ');
      expect(await send(`${get('/').slice(0, -2)}X: ${'x'.repeat(17_000)}`)).toStartWith('HTTP/1.1 431 ');
    });
  });

  const serveAnother = (more: Partial<ServerOptions> = {}) =>
    serveHere({
      ...more,
      handle: respond,
      refuse: ({ status }) => reply(null, {}, status),
      tls: credentialsFor(transport),
    });

  test('a server that stops responds to requests in progress, with "Connection: close"', async () => {
    const own = serveAnother();
    const { socket } = raw.open(own.port, transport);
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString();
    });
    const closed = new Promise((resolve) => socket.on('close', resolve));
    await new Promise((resolve) => socket.on('connect', resolve));
    const stopping = own.stop(5_000);
    socket.write(get('/late'));
    await closed;
    await stopping;
    expect(text).toContain('\r\nConnection: close\r\n');
    expect(text).toEndWith('GET /late');
    await expect(fetch(`http://127.0.0.1:${own.port}/`)).rejects.toThrow();
  });

  test('a server that stops responds to a client that it accepted last and that sends its request late', async () => {
    const time = new ManualTime();
    const own = serveAnother({ time });
    const last = raw.open(own.port, transport);
    await new Promise((resolve) =>
      last.socket.on(transport === 'TLS' ? 'secureConnect' : 'connect', resolve),
    );
    const stopping = own.stop(10_000);
    const isRefused = () =>
      new Promise<boolean>((resolve) => {
        const next = connect(own.port, '127.0.0.1');
        next.on('error', () => resolve(true));
        next.on('connect', () => {
          next.destroy();
          resolve(false);
        });
      });
    expect(await isRefused()).toBe(false);
    await time.pass(320);
    expect(await isRefused()).toBe(true);
    await time.pass(200);
    last.socket.write(get('/late'));
    expect(await last.all).toContain('\r\nConnection: close\r\n');
    expect(last.got()).toEndWith('GET /late');
    await time.pass(10_000);
    await stopping;
  });
});
