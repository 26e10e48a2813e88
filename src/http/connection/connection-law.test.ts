import { expect, test } from 'bun:test';
import type { Socket } from 'bun';
import fc from 'fast-check';
import { get, post } from '../../../test/support/http/raw-http.ts';
import { bufferPool } from '../message/buffer-pool.ts';
import { type RawReply, type Reply, reply } from '../message/reply.ts';
import { HeaderCache } from '../parse/header-cache.ts';
import { Connection } from './connection.ts';
import { IoBatch } from './io-batch.ts';

/** Requests by how they are handled, each with the expected body of its response. */
const REQUESTS = {
  raw: (i: number) => ({ bytes: get(`/raw/${i}`), body: `/raw/${i}` }),
  immediate: (i: number) => ({ bytes: get(`/immediate/${i}`), body: `/immediate/${i}` }),
  later: (i: number) => ({ bytes: get(`/later/${i}`), body: `/later/${i}` }),
  long: (i: number) => ({ bytes: get(`/long/${i}`), body: `/long/${i}`.padEnd(70_000, 'x') }),
  parts: (i: number) => ({ bytes: get(`/parts/${i}`), body: partsOf(`/parts/${i}`).join('') }),
  read: (i: number) => ({ bytes: post(`/read/${i}`, `body ${i}`), body: `/read/${i} body ${i}` }),
  skipped: (i: number) => ({ bytes: post(`/immediate/${i}`, `body ${i}`), body: `/immediate/${i}` }),
  chunked: (i: number) => ({
    bytes: post(`/read/${i}`, `3\r\n${String(i).padStart(3)}\r\n0\r\n\r\n`, 'Transfer-Encoding: chunked\r\n'),
    body: `/read/${i} ${String(i).padStart(3)}`,
  }),
};

const step = fc.oneof(
  fc.record({
    kind: fc.constant('arrives' as const),
    bytes: fc.oneof(fc.integer({ min: 1, max: 90 }), fc.constant(9_999)),
  }),
  fc.record({
    kind: fc.constantFrom('batch' as const, 'respond' as const, 'sweep' as const, 'stop' as const),
  }),
  fc.record({ kind: fc.constant('readable' as const), bytes: fc.constantFrom(0, 10, 1_000, 1_000_000) }),
);

/** A connection whose client reads a limited number of bytes, and whose handler responds on demand. */
function connect(securityLines: string) {
  let readable = 1_000_000;
  let wrote = '';
  let isClosed = false;
  const waiting: (() => void)[] = [];
  const later = (text: string) =>
    new Promise<Reply>((resolve) => waiting.push(() => resolve(reply(text, {}))));
  const close = () => {
    isClosed = true;
  };
  const socket = {
    write(bytes: Uint8Array, offset: number, length: number) {
      expect(isClosed).toBe(false);
      const taken = Math.min(readable, length);
      wrote += Buffer.from(bytes.subarray(offset, offset + taken)).toString('latin1');
      readable -= taken;
      return taken;
    },
    end: close,
    shutdown: close,
    terminate: close,
    pause() {},
    resume() {},
  };
  const server = { second: 0, requests: 0, isClosing: false };
  const connection = new Connection(socket as unknown as Socket<Connection>, {
    handle({ url, bytes: read }): RawReply | Reply | Promise<Reply> {
      if (url.startsWith('/raw')) {
        const text = `HTTP/1.1 200 OK\r\nContent-Length: ${url.length}\r\n\r\n${url}`;
        const bytes = bufferPool.acquire(RAW_LENGTH);
        bytes.memory.write(text);
        bytes.crop(0, text.length);
        return { status: 200, bytes };
      }
      if (url.startsWith('/later')) return later(url);
      if (url.startsWith('/parts')) return reply(partsOf(url).map(encode), {});
      if (url.startsWith('/read')) return read().then((body) => later(`${url} ${Buffer.from(body)}`));
      return reply(url.startsWith('/long') ? url.padEnd(70_000, 'x') : url, {});
    },
    refuse: ({ status, reason }) => reply(reason, {}, status),
    onError: rethrow,
    headers: new HeaderCache(),
    batch: new IoBatch(rethrow),
    clock: { now: () => 0 },
    server,
    securityLines,
  });
  return {
    connection,
    server,
    respondOne: () => waiting.shift()?.(),
    setReadable(bytes: number) {
      readable = bytes;
      if (bytes > 0 && !isClosed) connection.drained();
    },
    wrote: () => wrote,
    isClosed: () => isClosed,
  };
}

const RAW_LENGTH = 100;

/** Short and long parts, one of them longer than a single write. */
function partsOf(url: string): string[] {
  return [url, 'a'.repeat(70_000), '', `${url} `.repeat(15_000), 'b'];
}

const encode = (text: string) => Buffer.from(text);

/** Another client's response, in memory that was released. */
function overwriteIdleBuffer(): void {
  const buffer = bufferPool.acquire(RAW_LENGTH);
  buffer.take().fill('!');
  buffer.release();
}

const rethrow = (error: unknown) => {
  throw error;
};

const endOfBatch = () => new Promise((resolve) => setImmediate(resolve));

/** The bodies of the responses, and the index of the one with "Connection: close". */
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
  'every request gets its response, in order, however it arrives and however fast the client reads, %s',
  async (_, securityLines) => {
    const kinds = fc.array(fc.constantFrom(...(Object.keys(REQUESTS) as (keyof typeof REQUESTS)[])), {
      minLength: 1,
      maxLength: 12,
    });
    const law = fc.asyncProperty(
      kinds,
      fc.array(step, { maxLength: 30 }),
      fc.nat(3),
      async (sequence, steps, batches) => {
        let bytes = '';
        const requests = sequence.map((kind, i) => {
          const one = REQUESTS[kind](i);
          const headEndsAt = bytes.length + one.bytes.indexOf('\r\n\r\n') + 4;
          bytes += one.bytes;
          // The server does not wait for a body that the handler ignores.
          return { body: one.body, arrivedAt: kind === 'skipped' ? headEndsAt : bytes.length };
        });
        const { connection, server, respondOne, setReadable, wrote, isClosed } = connect(securityLines);
        let sent = 0;
        const send = (count: number) => {
          if (sent >= bytes.length || isClosed()) return;
          connection.receive(Buffer.from(bytes.slice(sent, sent + count)));
          sent += count;
        };
        for (const s of steps) {
          if (s.kind === 'arrives') send(s.bytes);
          if (s.kind === 'batch') await endOfBatch();
          if (s.kind === 'respond') respondOne();
          if (s.kind === 'sweep') connection.sweep();
          if (s.kind === 'stop') {
            server.isClosing = true;
            if (!isClosed()) connection.drain();
          }
          if (s.kind === 'readable') setReadable(s.bytes);
          overwriteIdleBuffer();
        }
        send(bytes.length);
        for (let i = 0; i < batches; i++) await endOfBatch();
        if (!isClosed()) connection.ended();
        for (let i = 0; i < 100 && !isClosed(); i++) {
          setReadable(1_000_000);
          respondOne();
          await endOfBatch();
        }
        expect(isClosed()).toBe(true);
        const { bodies, last } = read(wrote());
        const arrived = requests.filter((one) => one.arrivedAt <= sent).map((one) => one.body);
        // The client has to repeat requests after a response with "Connection: close".
        expect(bodies).toEqual(last < 0 ? arrived : arrived.slice(0, last + 1));
        if (!server.isClosing) expect([last, arrived.length]).toEqual([-1, requests.length]);
      },
    );
    // A client that has not read its response when the server stops, and sends another request.
    const arrives = { kind: 'arrives' as const, bytes: get('/raw/0').length };
    const steps = [
      arrives,
      { kind: 'readable' as const, bytes: 0 as const },
      { kind: 'sweep' as const },
      { kind: 'stop' as const },
    ];
    await fc.assert(law, { numRuns: 1_000, examples: [[['raw', 'raw'], steps, 0]] });
  },
  60_000,
);
