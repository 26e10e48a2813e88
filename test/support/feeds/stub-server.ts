import { afterAll } from 'bun:test';
import { createServer, type Socket } from 'node:net';
import type { Runtime } from '../../../src/feeds/fetch/runtime.ts';

type Respond = (request: Request) => Response | Promise<Response>;

/** A local server in place of a provider. The test sets its responses. */
export class StubServer {
  readonly #server;
  readonly requests: { path: string; headers: Headers }[] = [];
  /** The response until the test sets another. */
  respond: Respond = () => new Response('no response is set', { status: 404 });

  constructor() {
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: 0,
      fetch: (request) => {
        const { pathname, search } = new URL(request.url);
        this.requests.push({ path: pathname + search, headers: request.headers });
        return this.respond(request);
      },
    });
    afterAll(() => this.#server.stop(true));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** These responses in order; the last one for every further request. */
  respondInTurn(...responses: [Respond, ...Respond[]]): void {
    let n = 0;
    this.respond = (request) => responses[Math.min(n++, responses.length - 1)]!(request);
  }
}

/** A server that responds with exactly these bytes to every request. Returns its URL. */
export async function respondWithBytes(head: string, then: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(head);
      then(socket);
    });
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return `http://127.0.0.1:${address.port}`;
}

/** A stream of `length` bytes, generated on demand. */
export function streamOf(bytes: number): ReadableStream<Uint8Array> {
  const chunk = new TextEncoder().encode('2026-01-02,1\n'.repeat(5_000));
  let left = bytes;
  return new ReadableStream({
    async pull(controller) {
      if (left <= 0) return controller.close();
      left -= chunk.length;
      controller.enqueue(chunk);
      await Bun.sleep(0);
    },
  });
}

/** A clock that only advances when somebody sleeps. */
export function fakeRuntime(start: number): Runtime & { time: number; slept: number[] } {
  const runtime = {
    time: start,
    slept: [] as number[],
    now: () => runtime.time,
    random: () => 0.5,
    async sleep(ms: number) {
      runtime.slept.push(ms);
      runtime.time += ms;
    },
  };
  return runtime;
}
