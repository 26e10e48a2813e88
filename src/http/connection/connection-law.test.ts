import { expect, test } from 'bun:test';
import type { Socket } from 'bun';
import fc from 'fast-check';
import { get, post } from '../../../test/support/raw-http.ts';
import { bufferPool } from '../message/buffer-pool.ts';
import { type RawReply, type Reply, reply } from '../message/reply.ts';
import { HeadCache } from '../parse/head-cache.ts';
import { Connection } from './connection.ts';
import { IoBatch } from './io-batch.ts';

/** Requests by what becomes of them, each with the body of its answer. */
const REQUESTS = {
  ready: (i: number) => ({ bytes: get(`/ready/${i}`), told: `/ready/${i}` }),
  atOnce: (i: number) => ({ bytes: get(`/at-once/${i}`), told: `/at-once/${i}` }),
  later: (i: number) => ({ bytes: get(`/later/${i}`), told: `/later/${i}` }),
  long: (i: number) => ({ bytes: get(`/long/${i}`), told: `/long/${i}`.padEnd(70_000, 'x') }),
  read: (i: number) => ({ bytes: post(`/read/${i}`, `body ${i}`), told: `/read/${i} body ${i}` }),
  skipped: (i: number) => ({ bytes: post(`/at-once/${i}`, `body ${i}`), told: `/at-once/${i}` }),
  chunked: (i: number) => ({
    bytes: post(`/read/${i}`, `3\r\n${String(i).padStart(3)}\r\n0\r\n\r\n`, 'Transfer-Encoding: chunked\r\n'),
    told: `/read/${i} ${String(i).padStart(3)}`,
  }),
};

const step = fc.oneof(
  fc.record({
    kind: fc.constant('arrives' as const),
    bytes: fc.oneof(fc.integer({ min: 1, max: 90 }), fc.constant(9_999)),
  }),
  fc.record({ kind: fc.constantFrom('turn' as const, 'answer' as const, 'sweep' as const, 'stop' as const) }),
  fc.record({ kind: fc.constant('room' as const), bytes: fc.constantFrom(0, 10, 1_000, 1_000_000) }),
);

/** A connection whose client takes only so much, and whose handler answers when it is told to. */
function connect(securityLine: string) {
  let room = 1_000_000;
  let wrote = '';
  let isOver = false;
  const waiting: (() => void)[] = [];
  const later = (text: string) =>
    new Promise<Reply>((resolve) => waiting.push(() => resolve(reply(text, {}))));
  const over = () => {
    isOver = true;
  };
  const socket = {
    write(bytes: Uint8Array) {
      expect(isOver).toBe(false);
      const taken = Math.min(room, bytes.length);
      wrote += Buffer.from(bytes.subarray(0, taken)).toString('latin1');
      room -= taken;
      return taken;
    },
    end: over,
    shutdown: over,
    terminate: over,
    pause() {},
    resume() {},
  };
  const server = { second: 0, requests: 0, isClosing: false };
  const connection = new Connection(socket as unknown as Socket<Connection>, {
    handle({ url, text }): RawReply | Reply | Promise<Reply> {
      if (url.startsWith('/ready')) {
        const text = `HTTP/1.1 200 OK\r\nContent-Length: ${url.length}\r\n\r\n${url}`;
        const bytes = bufferPool.acquire(READY_LENGTH);
        bytes.memory.write(text);
        bytes.crop(0, text.length);
        return { status: 200, bytes };
      }
      if (url.startsWith('/later')) return later(url);
      if (url.startsWith('/read')) return text().then((body) => later(`${url} ${body}`));
      return reply(url.startsWith('/long') ? url.padEnd(70_000, 'x') : url, {});
    },
    refuse: ({ status, why }) => reply(why, {}, status),
    onError: (error) => {
      throw error;
    },
    heads: new HeadCache(),
    turn: new IoBatch(),
    clock: { now: () => 0 },
    server,
    securityLine,
  });
  return {
    connection,
    server,
    answerOne: () => waiting.shift()?.(),
    setRoom(bytes: number) {
      room = bytes;
      if (bytes > 0 && !isOver) connection.drained();
    },
    wrote: () => wrote,
    isOver: () => isOver,
  };
}

const READY_LENGTH = 100;

/** Another client's response, in memory that was released. */
function overwriteIdleBuffer(): void {
  const buffer = bufferPool.acquire(READY_LENGTH);
  buffer.take().fill('!');
  buffer.release();
}

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));

/** The bodies of the answers, and whether one of them said that it is the last. */
function read(text: string): { bodies: string[]; last: number } {
  const bodies: string[] = [];
  let last = -1;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\r\n\r\n', at) + 4;
    const head = text.slice(at, end);
    const length = Number(/Content-Length: (\d+)/.exec(head)![1]);
    if (head.includes('Connection: close')) last = bodies.length;
    bodies.push(text.slice(end, end + length));
    at = end + length;
  }
  return { bodies, last };
}

const SECURITY_LINES = [
  ['without TLS', ''],
  ['with TLS', 'Strict-Transport-Security: max-age=1\r\n'],
] as const;

test.each(SECURITY_LINES)(
  'every request is answered, in its order, however it arrives and the client takes its answers, %s',
  async (_, securityLine) => {
    const kinds = fc.array(fc.constantFrom(...(Object.keys(REQUESTS) as (keyof typeof REQUESTS)[])), {
      minLength: 1,
      maxLength: 12,
    });
    const law = fc.asyncProperty(
      kinds,
      fc.array(step, { maxLength: 30 }),
      fc.nat(3),
      async (asked, steps, turns) => {
        let bytes = '';
        const requests = asked.map((kind, i) => {
          const one = REQUESTS[kind](i);
          const headEndsAt = bytes.length + one.bytes.indexOf('\r\n\r\n') + 4;
          bytes += one.bytes;
          // A body that nobody reads is not waited for.
          return { told: one.told, isThereAt: kind === 'skipped' ? headEndsAt : bytes.length };
        });
        const { connection, server, answerOne, setRoom, wrote, isOver } = connect(securityLine);
        let sent = 0;
        const send = (count: number) => {
          if (sent >= bytes.length || isOver()) return;
          connection.receive(Buffer.from(bytes.slice(sent, sent + count)));
          sent += count;
        };
        for (const s of steps) {
          if (s.kind === 'arrives') send(s.bytes);
          if (s.kind === 'turn') await endOfTurn();
          if (s.kind === 'answer') answerOne();
          if (s.kind === 'sweep') connection.sweep();
          if (s.kind === 'stop') {
            server.isClosing = true;
            if (!isOver()) connection.drain();
          }
          if (s.kind === 'room') setRoom(s.bytes);
          overwriteIdleBuffer();
        }
        send(bytes.length);
        for (let i = 0; i < turns; i++) await endOfTurn();
        if (!isOver()) connection.ended();
        for (let i = 0; i < 100 && !isOver(); i++) {
          setRoom(1_000_000);
          answerOne();
          await endOfTurn();
        }
        expect(isOver()).toBe(true);
        const { bodies, last } = read(wrote());
        const arrived = requests.filter((one) => one.isThereAt <= sent).map((one) => one.told);
        // What stands behind an answer that says it is the last must be asked again elsewhere.
        expect(bodies).toEqual(last < 0 ? arrived : arrived.slice(0, last + 1));
        if (!server.isClosing) expect([last, arrived.length]).toEqual([-1, requests.length]);
      },
    );
    // Who has not taken its answer when the server stops, and asks again.
    const arrives = { kind: 'arrives' as const, bytes: get('/ready/0').length };
    const steps = [
      arrives,
      { kind: 'room' as const, bytes: 0 as const },
      { kind: 'sweep' as const },
      { kind: 'stop' as const },
    ];
    await fc.assert(law, { numRuns: 1_000, examples: [[['ready', 'ready'], steps, 0]] });
  },
  60_000,
);
