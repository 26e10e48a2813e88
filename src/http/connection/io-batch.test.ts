import { describe, expect, test } from 'bun:test';
import type { Socket } from 'bun';
import { get } from '../../../test/support/http/raw-http.ts';
import { reply } from '../message/reply.ts';
import { HeaderCache } from '../parse/header-cache.ts';
import { Connection } from './connection.ts';
import { IoBatch } from './io-batch.ts';
import { PIPELINED_BYTES_MAX } from './limits.ts';

/** A connection with a recording socket: a real one cannot be stopped in the middle of a batch. */
function connect() {
  const done: string[] = [];
  const socket = {
    write(bytes: Uint8Array, offset: number, length: number) {
      done.push(
        Buffer.from(bytes)
          .toString('latin1', offset, offset + length)
          .split('\r\n')[0]!,
      );
      return length;
    },
    end: () => void done.push('end'),
    shutdown: () => void done.push('shutdown'),
    terminate: () => void done.push('terminate'),
    pause: () => void done.push('pause'),
    resume: () => void done.push('resume'),
  };
  const server = { second: 0, requests: 0, isClosing: false };
  const connection = new Connection(socket as unknown as Socket<Connection>, {
    handle({ url }) {
      if (url === '/slow') Bun.sleepSync(1);
      return url === '/never' ? new Promise(() => {}) : reply(url, {});
    },
    refuse: ({ status }) => reply(null, {}, status),
    onError: rethrow,
    headers: new HeaderCache(),
    batch: new IoBatch(rethrow),
    clock: { now: () => 0 },
    server,
    securityLines: '',
  });
  return { connection, server, done };
}

const OK = 'HTTP/1.1 200 OK';
const rethrow = (error: unknown) => {
  throw error;
};
const endOfBatch = () => new Promise((resolve) => setImmediate(resolve));

describe('what arrives in one event-loop iteration', () => {
  test('is handled at its end, with one write per client', async () => {
    const { connection, done } = connect();
    connection.receive(Buffer.from(get('/a').slice(0, 9)));
    connection.receive(Buffer.from(get('/a').slice(9) + get('/b')));
    expect(done).toEqual([]);
    await endOfBatch();
    expect(done).toEqual([OK]);
  });

  test('is handled also when the client has stopped sending, or the server is closing', async () => {
    for (const then of ['ended', 'drain'] as const) {
      const { connection, server, done } = connect();
      connection.receive(Buffer.from(get('/a')));
      server.isClosing = then === 'drain';
      connection[then]();
      expect(done).toEqual([]);
      await endOfBatch();
      expect(done[0]).toBe(OK);
      expect(done).toContain(then === 'ended' ? 'end' : 'shutdown');
    }
  });

  test('is handled also when it arrives right before a time limit', async () => {
    for (const before of ['', get('/first'), 'GET /a HTT']) {
      const { connection, server, done } = connect();
      connection.receive(Buffer.from(before));
      await endOfBatch();
      done.length = 0;
      server.second = 1_000;
      connection.receive(Buffer.from(before.endsWith('HTT') ? 'P/1.1\r\nHost: a\r\n\r\n' : get('/a')));
      connection.sweep();
      await endOfBatch();
      expect(done).toEqual([OK]);
    }
  });

  test('does not extend the time limit of an incomplete head', async () => {
    const { connection, server, done } = connect();
    connection.receive(Buffer.from('GET /a HT'));
    await endOfBatch();
    server.second = 1_000;
    connection.receive(Buffer.from('T'));
    connection.sweep();
    expect(done[0]).toBe('HTTP/1.1 408 Request Timeout');
  });

  test('makes the connection busy until its response is sent', async () => {
    const { connection, done } = connect();
    expect(connection.state).toBe('new');
    connection.receive(Buffer.from(get('/a')));
    expect(connection.state).toBe('handling');
    connection.read();
    expect(done).toEqual([]);
    expect(connection.state).toBe('handling');
    await endOfBatch();
    expect(connection.state).toBe('idle');
  });

  test('is dropped when the client has disconnected', async () => {
    const { connection, server, done } = connect();
    connection.receive(Buffer.from(get('/a')));
    connection.closed();
    await endOfBatch();
    expect(done).toEqual([]);
    expect(server.requests).toBe(0);
  });

  test('is handled in several batches if it takes long, so that timers run, and nothing is lost', async () => {
    const { connection, server, done } = connect();
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    connection.receive(Buffer.from(get('/slow').repeat(200)));
    connection.ended();
    for (let i = 0; i < 1_000 && !done.includes('end'); i++) await endOfBatch();
    clearInterval(timer);
    expect(server.requests).toBe(200);
    expect(ticks).toBeGreaterThan(3);
    expect(done.filter((one) => one === OK).length).toBeGreaterThan(3);
    expect(done.at(-1)).toBe('end');
  });

  test('is sent in several batches if that takes long', async () => {
    const batch = new IoBatch(rethrow);
    const sent: number[] = [];
    for (let i = 0; i < 100; i++) {
      batch.addSender({
        sendBatch() {
          Bun.sleepSync(1);
          sent.push(i);
        },
      });
    }
    await endOfBatch();
    expect(sent.length).toBeGreaterThanOrEqual(8);
    expect(sent.length).toBeLessThan(50);
    for (let i = 0; i < 100 && sent.length < 100; i++) await endOfBatch();
    expect(sent).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  test('is sent although the timer of a request throws, and the error is reported', async () => {
    const errors: unknown[] = [];
    const batch = new IoBatch((error) => errors.push(error));
    const durations: number[] = [];
    const failing = {
      add() {
        throw new Error('the timer failed');
      },
    };
    for (let i = 0; i < 2; i++) {
      batch.addTimer(failing, 0);
      batch.addTimer({ add: (ms) => durations.push(ms) }, 0);
      await endOfBatch();
    }
    expect(errors.map(String)).toEqual(Array(2).fill('Error: the timer failed'));
    expect(durations).toHaveLength(2);
  });

  test('pauses a client that sends more than one batch can handle', async () => {
    const { connection, server, done } = connect();
    connection.receive(Buffer.from(get('/a').repeat(3_000)));
    expect(done).toContain('pause');
    for (let i = 0; i < 1_000 && server.requests < 3_000; i++) await endOfBatch();
    await endOfBatch();
    expect(server.requests).toBe(3_000);
    expect(done).toContain('resume');
  });

  test('is not buffered without limit: an endless head is refused, and pipelined requests pause the client', () => {
    const much = Buffer.alloc(PIPELINED_BYTES_MAX + 1, 'x');
    const refused = connect();
    refused.connection.receive(much);
    expect(refused.done).toEqual(['HTTP/1.1 431 Request Header Fields Too Large', 'shutdown']);

    const ahead = connect();
    ahead.connection.receive(Buffer.from(get('/never')));
    ahead.connection.receive(much);
    expect(ahead.done).toEqual(['pause']);
  });
});
