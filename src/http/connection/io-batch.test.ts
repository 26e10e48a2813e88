import { describe, expect, test } from 'bun:test';
import type { Socket } from 'bun';
import { get } from '../../../test/support/raw-http.ts';
import { reply } from '../message/reply.ts';
import { HeadCache } from '../parse/head-cache.ts';
import { Connection } from './connection.ts';
import { IoBatch } from './io-batch.ts';
import { AHEAD_BYTES_MAX } from './limits.ts';

/** A connection whose socket writes down what is done to it: a real one cannot be stopped between two steps of a turn. */
function connect() {
  const done: string[] = [];
  const socket = {
    write(bytes: Uint8Array) {
      done.push(Buffer.from(bytes).toString('latin1').split('\r\n')[0]!);
      return bytes.length;
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
    onError: (error) => {
      throw error;
    },
    heads: new HeadCache(),
    turn: new IoBatch(),
    clock: { now: () => 0 },
    server,
    securityLine: '',
  });
  return { connection, server, done };
}

const OK = 'HTTP/1.1 200 OK';
const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('what arrives in a turn', () => {
  test('is answered at its end', async () => {
    const { connection, done } = connect();
    connection.receive(Buffer.from(get('/a').slice(0, 9)));
    connection.receive(Buffer.from(get('/a').slice(9) + get('/b')));
    expect(done).toEqual([]);
    await endOfTurn();
    expect(done).toEqual([OK]); // both answers in one write
  });

  test('is answered also when the client sends no more, or the server is to close', async () => {
    for (const then of ['ended', 'drain'] as const) {
      const { connection, server, done } = connect();
      connection.receive(Buffer.from(get('/a')));
      server.isClosing = then === 'drain';
      connection[then]();
      expect(done).toEqual([]);
      await endOfTurn();
      expect(done[0]).toBe(OK);
      expect(done).toContain(then === 'ended' ? 'end' : 'shutdown');
    }
  });

  test('is answered also when it came in the last moment', async () => {
    for (const before of ['', get('/first'), 'GET /a HTT']) {
      const { connection, server, done } = connect();
      connection.receive(Buffer.from(before));
      await endOfTurn();
      done.length = 0;
      server.second = 1_000;
      connection.receive(Buffer.from(before.endsWith('HTT') ? 'P/1.1\r\nHost: a\r\n\r\n' : get('/a')));
      connection.sweep();
      await endOfTurn();
      expect(done).toEqual([OK]);
    }
  });

  test('is no reason to wait longer for a head that drips', async () => {
    const { connection, server, done } = connect();
    connection.receive(Buffer.from('GET /a HT'));
    await endOfTurn();
    server.second = 1_000;
    connection.receive(Buffer.from('T'));
    connection.sweep();
    expect(done[0]).toBe('HTTP/1.1 408 Request Timeout');
  });

  test('makes the client one that is not at rest, until its answer is sent', async () => {
    const { connection, done } = connect();
    expect(connection.state).toBe('new');
    connection.receive(Buffer.from(get('/a')));
    expect(connection.state).toBe('answering');
    connection.read();
    expect(done).toEqual([]);
    expect(connection.state).toBe('answering');
    await endOfTurn();
    expect(connection.state).toBe('idle');
  });

  test('is nothing to who is gone', async () => {
    const { connection, server, done } = connect();
    connection.receive(Buffer.from(get('/a')));
    connection.closed();
    await endOfTurn();
    expect(done).toEqual([]);
    expect(server.requests).toBe(0);
  });

  test('is answered in several, where that takes long: timers have their turn too, and nothing is left out', async () => {
    const { connection, server, done } = connect();
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    connection.receive(Buffer.from(get('/slow').repeat(200)));
    connection.ended();
    for (let i = 0; i < 1_000 && !done.includes('end'); i++) await endOfTurn();
    clearInterval(timer);
    expect(server.requests).toBe(200);
    expect(ticks).toBeGreaterThan(3);
    expect(done.filter((one) => one === OK).length).toBeGreaterThan(3);
    expect(done.at(-1)).toBe('end');
  });

  test('is sent in several, where that takes long', async () => {
    const turn = new IoBatch();
    const sent: number[] = [];
    for (let i = 0; i < 100; i++) {
      turn.sends({
        post() {
          Bun.sleepSync(1);
          sent.push(i);
        },
      });
    }
    await endOfTurn();
    expect(sent.length).toBeGreaterThanOrEqual(8);
    expect(sent.length).toBeLessThan(50);
    for (let i = 0; i < 100 && sent.length < 100; i++) await endOfTurn();
    expect(sent).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  test('holds a client back that sends more than is answered in a turn', async () => {
    const { connection, server, done } = connect();
    connection.receive(Buffer.from(get('/a').repeat(3_000)));
    expect(done).toContain('pause');
    for (let i = 0; i < 1_000 && server.requests < 3_000; i++) await endOfTurn();
    await endOfTurn();
    expect(server.requests).toBe(3_000);
    expect(done).toContain('resume');
  });

  test('does not pile up: much of it is refused, or held back, at once', () => {
    const much = Buffer.alloc(AHEAD_BYTES_MAX + 1, 'x');
    const refused = connect();
    refused.connection.receive(much);
    expect(refused.done).toEqual(['HTTP/1.1 431 Request Header Fields Too Large', 'shutdown']);

    const ahead = connect();
    ahead.connection.receive(Buffer.from(get('/never')));
    ahead.connection.receive(much);
    expect(ahead.done).toEqual(['pause']);
  });
});
