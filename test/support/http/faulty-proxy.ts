import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * What happens to one request on its way:
 *
 * - `drop`: the client's connection is reset; the target never sees the request
 * - `lose`: the target answers, and the connection is reset before the client sees any of it
 * - `truncate`: the connection is reset in the middle of the response
 * - `delay`: the response arrives late
 * - `duplicate`: the target gets the request twice, as from a gateway that tries again; the client gets one of the responses
 */
export type Fate = 'pass' | 'drop' | 'lose' | 'truncate' | 'delay' | 'duplicate';

export interface ForwardedRequest {
  /** Path and query. */
  target: string;
  headers: string;
  fate: Fate;
}

const HEAD_END = '\r\n\r\n';
const DELAY_MS = 40;

/** An HTTP proxy before a local server, with persistent connections to its clients, that damages what passes through it. */
export class FaultyProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** All requests, in the order in which they arrived. */
  readonly requests: ForwardedRequest[] = [];
  /** Decides about each request. */
  fateOf: (target: string) => Fate = () => 'pass';
  /** Changes the head of a request. */
  alterHead: (head: string) => string = (head) => head;
  /** Changes the bytes of a response after its head, for example those of a stream. */
  alter: (bytes: Buffer) => Buffer = (bytes) => bytes;

  private constructor(targetPort: number) {
    this.#server = createServer((client) => this.#serve(this.#keep(client), targetPort));
  }

  static async open(targetUrl: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(Number(new URL(targetUrl).port));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  /** Breaks every open connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.on('error', () => {}); // resets are expected
    socket.on('close', () => this.#sockets.delete(socket));
    return socket;
  }

  /** One request after the other; clients of this test do not pipeline. */
  #serve(client: Socket, port: number): void {
    let received = '';
    client.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
      const end = received.indexOf(HEAD_END);
      if (end < 0) return;
      const [line = '', ...lines] = received.slice(0, end).split('\r\n');
      received = received.slice(end + HEAD_END.length);
      const target = line.split(' ')[1] ?? '';
      const fate = line.startsWith('GET ') ? this.fateOf(target) : 'pass';
      this.requests.push({ target, headers: lines.join('\r\n'), fate });
      if (fate === 'drop') client.resetAndDestroy();
      else
        this.#forward(client, port, this.alterHead([line, ...closing(lines)].join('\r\n')) + HEAD_END, fate);
    });
  }

  #forward(client: Socket, port: number, head: string, fate: Fate): void {
    if (fate === 'duplicate') this.#keep(connect(port, '127.0.0.1')).resume().write(head, 'latin1');
    const target = this.#keep(connect(port, '127.0.0.1'));
    const onClose = () => target.destroy();
    client.once('close', onClose);
    target.once('close', () => client.off('close', onClose));
    let isHeadSent = false;
    const deliver = (bytes: Buffer) => {
      if (fate === 'lose') return client.resetAndDestroy();
      if (fate !== 'truncate') return client.write(bytes);
      client.write(bytes.subarray(0, bytes.length / 2), () => client.resetAndDestroy());
    };
    target.on('data', (bytes: Buffer) => {
      const altered = isHeadSent ? this.alter(bytes) : withoutClosing(bytes);
      isHeadSent = true;
      if (fate === 'delay') setTimeout(() => deliver(altered), DELAY_MS);
      else deliver(altered);
    });
    target.write(head, 'latin1');
  }
}

/** The target closes its connection after the response; the client's stays open. */
function closing(lines: readonly string[]): string[] {
  return [...lines.filter((line) => !/^connection:/i.test(line)), 'Connection: close'];
}

function withoutClosing(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  const end = text.indexOf(HEAD_END);
  return Buffer.from(text.slice(0, end).replace(/\r\nconnection: close/i, '') + text.slice(end), 'latin1');
}
