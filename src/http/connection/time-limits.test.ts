import { afterAll, describe, expect, test } from 'bun:test';
import * as raw from '../../../test/support/http/raw-http.ts';
import {
  bodyOf,
  credentialsFor,
  get,
  ManualSeconds,
  post,
  serveHere,
  TRANSPORTS,
} from '../../../test/support/http/raw-http.ts';
import { eventually } from '../../../test/support/program.ts';
import { reply } from '../message/reply.ts';

const LARGE_BYTES = 8_000_000;

describe.each(TRANSPORTS)('over %s,', (transport) => {
  const time = new ManualSeconds();
  const server = serveHere({
    async handle(request) {
      if (request.url === '/large') return reply('x'.repeat(LARGE_BYTES), {});
      if (request.url === '/body')
        return reply(await request.bytes().catch((error: Error) => `failed: ${error.message}`), {});
      return reply(request.url, {});
    },
    refuse: ({ status }) => reply(null, {}, status),
    tls: credentialsFor(transport),
    everySecond: time.every,
  });
  afterAll(() => server.stop(0));

  /** Opens a connection, sends, and waits until the server has read it: it has once it responds to a later request. */
  async function openWith(bytes: string, isPaused = false) {
    const client = raw.open(server.port, transport);
    if (isPaused) client.socket.pause();
    await new Promise<void>((resolve) => client.socket.write(bytes, () => resolve()));
    await isServed();
    return client;
  }

  async function isServed(): Promise<void> {
    expect(bodyOf(await raw.sendAll(server.port, get('/well'), transport))).toBe('/well');
  }

  describe('a client has', () => {
    test('12 s for a head, however slowly it arrives, while others are served', async () => {
      const { socket, all } = await openWith('GET /drip');
      for (let second = 0; second < 12; second++) {
        time.pass(1);
        socket.write('p');
        await isServed();
      }
      expect(socket.closed).toBe(false);
      time.pass(1);
      expect(await all).toStartWith('HTTP/1.1 408 ');
    });

    test('12 s for a body of which nothing arrives', async () => {
      const { socket, all } = await openWith(post('/body', '', 'Content-Length: 5\r\n'));
      time.pass(12);
      await isServed();
      expect(socket.closed).toBe(false);
      time.pass(1);
      expect(bodyOf(await all)).toBe('failed: the request was not complete in time');
    });

    test('75 s between two requests', async () => {
      const { socket, all, got } = await openWith(get('/a'));
      await eventually(async () => got().endsWith('/a'));
      time.pass(75);
      await isServed();
      expect(socket.closed).toBe(false);
      time.pass(1);
      expect(bodyOf(await all)).toBe('/a');
    });

    test('30 s to read a part of its response', async () => {
      const { socket, all } = await openWith(get('/large'), true);
      time.pass(30);
      await isServed();
      time.pass(1);
      socket.resume();
      expect(bodyOf(await all).length).toBeLessThan(LARGE_BYTES);
    });

    test('no limit for its last response, as long as it reads a part of it in time', async () => {
      const { socket, all } = await openWith(get('/large', 'Connection: close\r\n'), true);
      time.pass(6); // longer than the server lingers after its last response
      socket.resume();
      expect(bodyOf(await all)).toHaveLength(LARGE_BYTES);
    });
  });
});
