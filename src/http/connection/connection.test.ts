import { afterAll, describe, expect, test } from 'bun:test';
import * as raw from '../../../test/support/http/raw-http.ts';
import {
  bodyOf,
  credentialsFor,
  get,
  post,
  READY,
  serveHere,
  TRANSPORTS,
} from '../../../test/support/http/raw-http.ts';
import { eventually } from '../../../test/support/program.ts';
import type { Fault } from '../message/fault.ts';
import type { IncomingRequest } from '../message/incoming-request.ts';
import { reply } from '../message/reply.ts';

/** The outcome of bodies that the response did not wait for, and of canceled streams. */
const outcomes: string[] = [];
const refused: Fault[] = [];
const gate = { opens: Promise.withResolvers<void>(), reached: Promise.withResolvers<void>() };

/** Waits until the test opens the gate. */
function passGate(): Promise<void> {
  gate.reached.resolve();
  return gate.opens.promise;
}

const record = (reading: Promise<Uint8Array>) =>
  reading.then(
    (bytes) => outcomes.push(`read: ${Buffer.from(bytes)}`),
    (error: Error) => outcomes.push(`failed: ${error.message}`),
  );

function openStream(): ReadableStream<Uint8Array> {
  const start = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    controller.enqueue(Buffer.from('abc'));
  return new ReadableStream({ start, cancel: () => void outcomes.push('canceled') });
}

async function respond(request: IncomingRequest) {
  const { method, url } = request;
  if (url === '/gate') await passGate();
  if (url === '/body-after-gate') {
    await passGate();
    await record(request.bytes());
  }
  if (url === '/body-after-answer') void passGate().then(() => record(request.bytes()));
  if (url === '/body-unawaited') void request.bytes();
  if (url === '/body-unawaited-at-gate') {
    void request.bytes();
    await passGate();
  }
  if (url === '/large') return reply('x'.repeat(1_500_000), {});
  if (url === '/stream') return reply(openStream(), {});
  if (url === '/endless-after-gate') await passGate();
  if (url.startsWith('/endless')) return { ...reply(openStream(), {}), isEndless: true };
  if (url === '/stream-204') return reply(openStream(), {}, 204);
  if (url === '/ends') return reply(new Blob(['ends']).stream(), {});
  if (url === '/fails') throw new Error('it failed');
  return reply(`${method} ${url}`, {});
}

describe.each(TRANSPORTS)('over %s,', (transport) => {
  const server = serveHere({
    handle(request) {
      if (request.url === '/throws') throw new Error('it threw');
      return request.url === '/ready' ? READY : respond(request);
    },
    refuse(fault) {
      refused.push(fault);
      return reply(null, {}, fault.status);
    },
    tls: credentialsFor(transport),
    everySecond: () => () => {}, // no time limit applies
  });
  afterAll(() => server.stop(0));

  const open = () => raw.open(server.port, transport);
  const send = (bytes: string) => raw.send(server.port, bytes, transport);
  const sendAll = (bytes: string) => raw.sendAll(server.port, bytes, transport);
  const LAST = 'Connection: close\r\n';

  /** Lets everything continue that waits at the gate, this long after the first has reached it. */
  function openGateAfter(ms: number): void {
    gate.opens = Promise.withResolvers();
    gate.reached = Promise.withResolvers();
    void gate.reached.promise.then(() => setTimeout(() => gate.opens.resolve(), ms));
  }

  const hasOutcome = (text: string) => eventually(async () => outcomes.includes(text));

  describe('a handler that fails', () => {
    test('results in a 500, and does not affect others', async () => {
      for (const path of ['/throws', '/fails']) {
        expect(await send(get(path) + get('/never'))).toMatch(/^HTTP\/1\.1 500 [\s\S]+\r\n\r\n$/);
        expect(refused.at(-1)).toMatchObject({ status: 500, reason: expect.stringContaining('Error: it ') });
      }
      expect(bodyOf(await sendAll(get('/well')))).toBe('GET /well');
    });

    test('results in a 500 also right after a stream', async () => {
      expect(await send(get('/ends') + get('/throws'))).toContain('4\r\nends\r\n0\r\n\r\nHTTP/1.1 500 ');
      expect(bodyOf(await sendAll(get('/well')))).toBe('GET /well');
    });
  });

  describe('a body', () => {
    test('that is read after the client has disconnected fails', async () => {
      openGateAfter(300);
      const { socket } = open();
      socket.write(post('/body-after-gate', 'abc', 'Content-Length: 5\r\n'));
      await gate.reached.promise;
      socket.resetAndDestroy();
      await hasOutcome('failed: the client has disconnected');
    });

    test('that is read after the client stopped sending halfway fails at once', async () => {
      openGateAfter(100);
      await sendAll(post('/body-after-gate', 'abc', 'Content-Length: 5\r\n'));
      expect(outcomes).toContain('failed: the body ends too soon');
    });

    test('that is read after the response fails, and does not affect the next request', async () => {
      openGateAfter(50);
      const { socket, all } = open();
      socket.write(post('/body-after-answer', 'abc', 'Content-Length: 5\r\n'));
      await hasOutcome('failed: the response was already sent');
      socket.write(`de${get('/next', LAST)}`);
      expect(await all).toEndWith('GET /next');
    });

    test('that is read but not awaited is skipped', async () => {
      const { socket, all, got } = open();
      socket.write(post('/body-unawaited', 'abc', 'Content-Length: 5\r\n'));
      await eventually(async () => got().includes('POST /body-unawaited'));
      socket.write(`de${get('/next', LAST)}`);
      expect(await all).toEndWith('GET /next');
    });

    test('that is not awaited may be incomplete', async () => {
      openGateAfter(200);
      const { socket } = open();
      socket.write(post('/body-unawaited-at-gate', 'abc', 'Content-Length: 5\r\n'));
      await gate.reached.promise;
      socket.resetAndDestroy();
      await gate.opens.promise;
      expect(bodyOf(await sendAll(get('/well')))).toBe('GET /well');
    });

    test('that is long is not read after a raw response', async () => {
      const answer = await send(get('/ready', 'Content-Length: 900000000\r\n'));
      expect(answer).toContain('\r\nConnection: close\r\n');
      expect(answer).toEndWith('ready');
    });

    test('in chunks is skipped only up to a limit', async () => {
      const chunks = `1000\r\n${'x'.repeat(4096)}\r\n`.repeat(20);
      expect(await send(post('/a', chunks, 'Transfer-Encoding: chunked\r\n'))).toEndWith('POST /a');
    });

    test('that waits for "100 Continue" is not awaited after the response', async () => {
      const answer = await send(post('/a', '', 'Content-Length: 10\r\nExpect: 100-continue\r\n'));
      expect(answer).toContain('\r\nConnection: close\r\n');
      expect(answer).toEndWith('POST /a');
    });
  });

  describe('a client that stops sending', () => {
    const REST = {
      'an empty line': '\r\n',
      'half a head': 'GET / HT',
      'half an ignored body': post('/a', '', 'Content-Length: 5\r\n'),
    };
    for (const [what, rest] of Object.entries(REST)) {
      test(`is disconnected at once when ${what} is left`, async () => {
        openGateAfter(100);
        expect(await sendAll(get('/gate') + rest)).toContain('GET /gate');
      });
    }
  });

  describe('a stream', () => {
    test('is canceled for HEAD and for status 204', async () => {
      for (const [request, status] of [
        ['HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n', '200 OK'],
        [get('/stream-204'), '204 No Content'],
      ] as const) {
        outcomes.length = 0;
        const answer = await sendAll(request);
        expect(answer).toStartWith(`HTTP/1.1 ${status}\r\n`);
        expect(answer).not.toContain('Content-Length');
        expect(bodyOf(answer)).toBe('');
        expect(outcomes).toEqual(['canceled']);
      }
    });

    test('is canceled when the client disconnects, even if reading from it is paused', async () => {
      for (const ahead of ['', 'x'.repeat(200_000)]) {
        outcomes.length = 0;
        const { socket, got } = open();
        socket.write(get('/stream') + ahead);
        await eventually(async () => got().includes('abc'));
        socket.resetAndDestroy();
        await hasOutcome('canceled');
      }
    });
  });

  describe('an endless stream', () => {
    const FIRST = '3\r\nabc\r\n0\r\n\r\n';

    for (const path of ['/endless', '/endless-after-gate']) {
      test(`ends, after what it had to send, for a client that stops sending with its request: ${path}`, async () => {
        for (let i = 0; i < 20; i++) {
          outcomes.length = 0;
          openGateAfter(5);
          expect(bodyOf(await sendAll(get(path)))).toBe(FIRST);
          expect(outcomes).toEqual(['canceled']);
        }
      });
    }

    test('ends for a client that stops sending later', async () => {
      const { socket, all, got } = open();
      socket.write(get('/endless'));
      await eventually(async () => got().includes('abc'));
      socket.end();
      expect(bodyOf(await all)).toBe(FIRST);
    });

    test('is followed by the responses to requests that were sent with it', async () => {
      const answers = await sendAll(get('/endless') + get('/a'));
      expect(answers).toContain(FIRST);
      expect(answers).toEndWith('GET /a');
    });
  });

  describe('the last response', () => {
    test('reaches a client that is still sending', async () => {
      openGateAfter(200);
      const { socket, all } = open();
      socket.write(get('/gate', LAST) + 'x'.repeat(8_000_000));
      expect(await all).toEndWith('GET /gate');
      expect(socket.bytesWritten).toBeGreaterThan(8_000_000);
    });
  });
});
