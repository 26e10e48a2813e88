import { afterAll, describe, expect, test } from 'bun:test';
import { eventually } from '../../../test/support/program.ts';
import * as raw from '../../../test/support/raw-http.ts';
import {
  bodyOf,
  credentialsFor,
  get,
  post,
  READY,
  serveHere,
  TRANSPORTS,
} from '../../../test/support/raw-http.ts';
import type { Fault } from '../message/fault.ts';
import type { IncomingRequest } from '../message/incoming-request.ts';
import { reply } from '../message/reply.ts';

/** What became of bodies that the answer did not wait for, and of streams that nobody heard. */
const told: string[] = [];
const refused: Fault[] = [];
const gate = { opens: Promise.withResolvers<void>() };

const tell = (reading: Promise<string>) =>
  reading.then(
    (text) => told.push(`read: ${text}`),
    (error: Error) => told.push(`failed: ${error.message}`),
  );

function listened(): ReadableStream<Uint8Array> {
  const start = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    controller.enqueue(Buffer.from('abc'));
  return new ReadableStream({ start, cancel: () => void told.push('cancelled') });
}

async function answer(request: IncomingRequest) {
  const { method, url } = request;
  if (url === '/gate') await gate.opens.promise;
  if (url === '/body-after-gate') {
    await gate.opens.promise;
    await tell(request.text());
  }
  if (url === '/body-after-answer') void gate.opens.promise.then(() => tell(request.text()));
  if (url === '/body-unawaited') void request.text();
  if (url === '/body-unawaited-at-gate') {
    void request.text();
    await gate.opens.promise;
  }
  if (url === '/large') return reply('x'.repeat(1_500_000), {});
  if (url === '/stream') return reply(listened(), {});
  if (url === '/stream-204') return reply(listened(), {}, 204);
  if (url === '/ends') return reply(new Blob(['ends']).stream(), {});
  if (url === '/fails') throw new Error('it failed');
  return reply(`${method} ${url}`, {});
}

describe.each(TRANSPORTS)('over %s,', (transport) => {
  const server = serveHere({
    handle(request) {
      if (request.url === '/throws') throw new Error('it threw');
      return request.url === '/ready' ? READY : answer(request);
    },
    refuse(fault) {
      refused.push(fault);
      return reply(null, {}, fault.status);
    },
    tls: credentialsFor(transport),
    everySecond: () => () => {}, // time stands still: what closes, closes for another reason
  });
  afterAll(() => server.stop(0));

  const open = () => raw.open(server.port, transport);
  const send = (bytes: string) => raw.send(server.port, bytes, transport);
  const sendAll = (bytes: string) => raw.sendAll(server.port, bytes, transport);
  const LAST = 'Connection: close\r\n';

  /** Lets everything go on that waits at the gate, once it has come there. */
  function openGateAfter(ms: number): void {
    gate.opens = Promise.withResolvers();
    setTimeout(() => gate.opens.resolve(), ms);
  }

  const isTold = (text: string) => eventually(async () => told.includes(text));

  describe('a handler that fails', () => {
    test('is answered for with 500, and the server goes on', async () => {
      for (const path of ['/throws', '/fails']) {
        expect(await send(get(path) + get('/never'))).toMatch(/^HTTP\/1\.1 500 [\s\S]+\r\n\r\n$/);
        expect(refused.at(-1)).toMatchObject({ status: 500, why: expect.stringContaining('Error: it ') });
      }
      expect(bodyOf(await sendAll(get('/well')))).toBe('GET /well');
    });

    test('is so too right after a stream', async () => {
      expect(await send(get('/ends') + get('/throws'))).toContain('4\r\nends\r\n0\r\n\r\nHTTP/1.1 500 ');
      expect(bodyOf(await sendAll(get('/well')))).toBe('GET /well');
    });
  });

  describe('a body', () => {
    test('that is asked for after the client has gone fails', async () => {
      openGateAfter(300);
      const { socket } = open();
      socket.write(post('/body-after-gate', 'abc', 'Content-Length: 5\r\n'));
      setTimeout(() => socket.resetAndDestroy(), 100);
      await isTold('failed: the client is gone');
    });

    test('that is asked for after the client stopped sending in its middle fails at once', async () => {
      openGateAfter(100);
      await sendAll(post('/body-after-gate', 'abc', 'Content-Length: 5\r\n'));
      expect(told).toContain('failed: the body ends too soon');
    });

    test('that is asked for after the answer fails, and disturbs nothing', async () => {
      openGateAfter(50);
      const { socket, all } = open();
      socket.write(post('/body-after-answer', 'abc', 'Content-Length: 5\r\n'));
      await isTold('failed: the request was answered already');
      socket.write(`de${get('/next', LAST)}`);
      expect(await all).toEndWith('GET /next');
    });

    test('that was asked for and not waited for is skipped', async () => {
      const { socket, all, got } = open();
      socket.write(post('/body-unawaited', 'abc', 'Content-Length: 5\r\n'));
      await eventually(async () => got().includes('POST /body-unawaited'));
      socket.write(`de${get('/next', LAST)}`);
      expect(await all).toEndWith('GET /next');
    });

    test('that nobody looks at may break off', async () => {
      openGateAfter(200);
      const { socket } = open();
      socket.write(post('/body-unawaited-at-gate', 'abc', 'Content-Length: 5\r\n'));
      setTimeout(() => socket.resetAndDestroy(), 50);
      await gate.opens.promise;
      expect(bodyOf(await sendAll(get('/well')))).toBe('GET /well');
    });

    test('that is long is not read behind an answer that was ready', async () => {
      const answer = await send(get('/ready', 'Content-Length: 900000000\r\n'));
      expect(answer).toContain('\r\nConnection: close\r\n');
      expect(answer).toEndWith('ready');
    });

    test('in chunks is not skipped for ever', async () => {
      const chunks = `1000\r\n${'x'.repeat(4096)}\r\n`.repeat(20);
      expect(await send(post('/a', chunks, 'Transfer-Encoding: chunked\r\n'))).toEndWith('POST /a');
    });

    test('that the client holds back until it is told to send is not waited for after the answer', async () => {
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
      test(`is let go at once when ${what} is left`, async () => {
        openGateAfter(100);
        expect(await sendAll(get('/gate') + rest)).toContain('GET /gate');
      });
    }
  });

  describe('a stream', () => {
    test('is not sent where there is no body, and cancelled', async () => {
      for (const [request, status] of [
        ['HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n', '200 OK'],
        [get('/stream-204'), '204 No Content'],
      ] as const) {
        told.length = 0;
        const answer = await sendAll(request);
        expect(answer).toStartWith(`HTTP/1.1 ${status}\r\n`);
        expect(answer).not.toContain('Content-Length');
        expect(bodyOf(answer)).toBe('');
        expect(told).toEqual(['cancelled']);
      }
    });

    test('ends when the client hangs up, also one that is not read from any more', async () => {
      for (const ahead of ['', 'x'.repeat(200_000)]) {
        told.length = 0;
        const { socket, got } = open();
        socket.write(get('/stream') + ahead);
        await eventually(async () => got().includes('abc'));
        socket.resetAndDestroy();
        await isTold('cancelled');
      }
    });
  });

  describe('the last answer', () => {
    test('reaches a client that is still sending', async () => {
      openGateAfter(200);
      const { socket, all } = open();
      socket.write(get('/gate', LAST) + 'x'.repeat(8_000_000));
      expect(await all).toEndWith('GET /gate');
      expect(socket.bytesWritten).toBeGreaterThan(8_000_000);
    });
  });
});
