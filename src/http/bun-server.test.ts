import { afterAll, describe, expect, test } from 'bun:test';
import { bodyOf, credentialsFor, get, open, READY, send, sendAll } from '../../test/support/http/raw-http.ts';
import { eventually } from '../../test/support/program.ts';
import { systemClock } from '../runtime/clock.ts';
import { serveWithBun } from './bun-server.ts';
import { bufferPool } from './message/buffer-pool.ts';
import type { BodyFault } from './message/fault.ts';
import type { IncomingRequest } from './message/incoming-request.ts';
import { reply } from './message/reply.ts';
import type { ServerOptions } from './server-options.ts';

const errors: unknown[] = [];
const durations: number[] = [];
const peers: (() => string)[] = [];
let canceled = 0;

function stream(isFailing: boolean): ReadableStream<Uint8Array> {
  let chunks = 0;
  return new ReadableStream({
    async pull(controller) {
      await Bun.sleep(1);
      if (isFailing && chunks === 2) throw new Error('the source failed');
      if (chunks++ === 3) controller.close();
      else controller.enqueue(Buffer.from(`${chunks} `));
    },
  });
}

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from('first')),
    cancel: () => void canceled++,
  });
}

function pooled() {
  const bytes = bufferPool.acquire(1_000);
  const text = 'HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 6\r\n\r\npooled';
  bytes.memory.write(text);
  bytes.crop(0, text.length);
  return { status: 200, bytes };
}

async function handle(request: IncomingRequest, peer: () => string) {
  const { method, url } = request;
  peers.push(peer);
  if (url === '/fails') throw new Error('the handler failed');
  if (url === '/raw') return READY;
  if (url === '/pooled') return pooled();
  if (url === '/parts') return reply([Buffer.from('a '), Buffer.from('b')], {});
  if (url === '/slow') await Bun.sleep(200);
  if (url === '/stream') return reply(stream(false), {});
  if (url === '/failing-stream') return reply(stream(true), {});
  if (url === '/endless') return { ...reply(endless(), {}), isEndless: true };
  if (url === '/echo') {
    const body = await request.bytes().catch((error: BodyFault) => `failed: ${error.message}`);
    return reply(body, {});
  }
  return { ...reply(`${method} ${url}`, { 'X-Evil': 'a\r\nX-Injected: 1' }), timer: { add: onDuration } };
}
const onDuration = (ms: number) => void durations.push(ms);

function serveHere(options: Partial<ServerOptions> = {}) {
  return serveWithBun({
    hostname: '127.0.0.1',
    port: 0,
    isShared: false,
    clock: systemClock,
    handle,
    refuse: ({ status }) => reply(null, { 'X-Refused': '1' }, status),
    onError: (error) => errors.push(error),
    ...options,
  });
}

const server = serveHere();
afterAll(() => server.stop(0));
const CLOSE = 'Connection: close\r\n';
const ask = (path: string, headers = CLOSE) => send(server.port, get(path, headers));

describe('Bun.serve behind the interface of the server', () => {
  test('sends replies and raw replies with one date and one length, and without injected headers', async () => {
    for (const [path, body] of [
      ['/a?b=%41', 'GET /a?b=%41'],
      ['/raw', 'ready'],
      ['/pooled', 'pooled'],
      ['/parts', 'a b'],
    ] as const) {
      const response = await ask(path);
      expect(response).toStartWith('HTTP/1.1 200 OK\r\n');
      expect(bodyOf(response)).toBe(body);
      expect(response.match(/^date:/gim)).toHaveLength(1);
      expect(response.match(/^content-length:/gim)).toHaveLength(1);
      expect(response).not.toMatch(/^X-Injected/im);
    }
    expect(durations.length).toBeGreaterThan(0);
  });

  test('tells HEAD nothing about a length that the handler left out', async () => {
    const response = await send(server.port, `HEAD /pooled HTTP/1.1\r\nHost: a\r\n${CLOSE}\r\n`);
    expect(response).not.toMatch(/content-length/i);
    expect(bodyOf(response)).toBe('');
  });

  test('streams a body, and breaks the connection and reports when it fails', async () => {
    expect(bodyOf(await ask('/stream'))).toBe('2\r\n1 \r\n2\r\n2 \r\n2\r\n3 \r\n0\r\n\r\n');
    const failed = await ask('/failing-stream');
    expect(failed).toContain('1 ');
    expect(failed).not.toEndWith('0\r\n\r\n');
    expect(errors.map(String)).toEqual(['Error: the source failed']);
  });

  test('cancels an endless stream when the client disconnects, whose address is then empty', async () => {
    const client = open(server.port);
    client.socket.write(get('/endless'));
    await eventually(async () => client.got().includes('first'));
    const peer = peers.at(-1)!;
    expect(peer()).toBe('127.0.0.1');
    client.socket.destroy();
    await eventually(async () => canceled === 1 && peer() === '');
  });

  test('delivers a body, and fails one that is too long for the handler to word the error', async () => {
    const post = (body: string) =>
      fetch(`http://127.0.0.1:${server.port}/echo`, { method: 'POST', body }).then((one) => one.text());
    expect(await post('hällo')).toBe('hällo');
    expect(await post('x'.repeat(1024 * 1024 + 1))).toBe('failed: the body is longer than 1048576 bytes');
    const head = `POST /echo HTTP/1.1\r\nHost: a\r\n${CLOSE}Transfer-Encoding: chunked\r\n\r\n`;
    const chunked = await send(server.port, `${head}100001\r\n${'x'.repeat(0x100001)}\r\n0\r\n\r\n`);
    expect(bodyOf(chunked)).toBe('failed: the body is longer than 1048576 bytes');
  });

  test('refuses for a handler that throws, and for a Host that would change the path', async () => {
    expect(await ask('/fails')).toMatch(/^HTTP\/1\.1 500 [\s\S]+X-Refused: 1/i);
    for (const host of ['evil/usage?x=', 'user@evil'])
      expect(await send(server.port, `GET /a HTTP/1.1\r\nHost: ${host}\r\n${CLOSE}\r\n`)).toMatch(
        /^HTTP\/1\.1 400 [\s\S]+X-Refused: 1/i,
      );
    expect(await sendAll(server.port, 'GET /a HTTP/1.0\r\n\r\n')).toEndWith('GET /a');
  });

  test('stops gracefully: the request in progress gets its response, and the connection is closed', async () => {
    const own = serveHere();
    const client = open(own.port);
    client.socket.write(get('/slow'));
    const before = peers.length;
    await eventually(async () => peers.length > before - 1);
    const stopping = own.stop(5_000);
    expect(await client.all).toMatch(/connection: close[\s\S]+GET \/slow$/i);
    await stopping;
    await expect(fetch(`http://127.0.0.1:${own.port}/`)).rejects.toThrow();
  });

  test('stops although a stream never ends', async () => {
    const own = serveHere();
    const client = open(own.port);
    client.socket.write(get('/endless'));
    await eventually(async () => client.got().includes('first'));
    await own.stop(100);
    await client.all;
  });

  test('uses TLS with an HSTS header, and cannot replace the certificate', async () => {
    const credentials = credentialsFor('TLS')!;
    const own = serveHere({ tls: credentials });
    expect(await send(own.port, get('/raw', CLOSE), 'TLS')).toMatch(
      /Strict-Transport-Security: max-age=\d+/i,
    );
    expect(() => own.setCredentials(credentials)).toThrow('restart');
    await own.stop(0);
  });
});
