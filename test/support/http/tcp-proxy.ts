import { connect, createServer, type Server, type Socket } from 'node:net';

/** A client's connection, and the corresponding one to the target. */
interface Pair {
  client: Socket;
  target: Socket;
  /** Bytes were dropped: the connection stays dead, and neither end notices. */
  isLost: boolean;
  fromTarget: number;
}

/**
 * A proxy between a client and a local server that simulates a bad network. Its behaviour can be changed at any time, also
 * for open connections.
 */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  /** A black hole: connections are accepted and stay open, but no bytes are forwarded. */
  swallow = false;
  /** New connections are closed at once, as if there were no server. */
  refuse = false;
  /** Sent to a refused connection before it is closed. */
  refusal: Uint8Array | undefined;
  /** The latency of each direction. */
  delayMs = 0;
  /** A connection is cut after this many bytes of the response. */
  cutAfterBytes = Number.POSITIVE_INFINITY;
  /** Whether to cut the connection once the target has these bytes of the client, before it responds. */
  cutBehind: (sent: Buffer) => boolean = () => false;
  /** How often a client has connected. */
  connections = 0;

  private constructor(targetPort: number) {
    this.#server = createServer((client) => this.#take(client, targetPort));
  }

  /** Listens on a free port of 127.0.0.1, in front of a port there. */
  static async open(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** The same URL, by way of this proxy. */
  through(url: string): string {
    const changed = new URL(url);
    changed.port = String(this.port);
    return changed.href;
  }

  get open(): number {
    return this.#pairs.size;
  }

  /** Breaks every connection that is open. */
  cut(): void {
    for (const pair of this.#pairs) this.#cut(pair);
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #take(client: Socket, targetPort: number): void {
    this.connections++;
    client.on('error', () => {}); // resets are expected
    if (this.refuse) {
      const { refusal } = this;
      if (refusal) client.once('data', () => client.end(refusal));
      else client.destroy();
      return;
    }
    const target = connect(targetPort, '127.0.0.1');
    const pair: Pair = { client, target, isLost: false, fromTarget: 0 };
    this.#pairs.add(pair);
    this.#carry(pair, client, target, (bytes) => this.cutBehind(bytes));
    this.#carry(pair, target, client, (bytes) => {
      pair.fromTarget += bytes.length;
      return pair.fromTarget >= this.cutAfterBytes;
    });
    target.on('error', () => client.destroy());
  }

  /** Forwards bytes from one end to the other; `isLast` tells whether to break the connection after them. */
  #carry(pair: Pair, from: Socket, to: Socket, isLast: (bytes: Buffer) => boolean): void {
    let dueAt = 0;
    const inTime = (send: () => void) => {
      dueAt = Math.max(dueAt, performance.now() + this.delayMs); // never overtakes earlier bytes
      const waitMs = dueAt - performance.now();
      if (waitMs <= 0) send();
      else setTimeout(send, waitMs);
    };
    from.on('data', (bytes: Buffer) => {
      pair.isLost ||= this.swallow;
      if (pair.isLost) return;
      const cut = isLast(bytes);
      pair.isLost = cut; // at once: a response may arrive before these bytes are sent
      const part = bytes.subarray(
        0,
        bytes.length - Math.max(0, cut ? pair.fromTarget - this.cutAfterBytes : 0),
      );
      inTime(() => {
        if (!to.destroyed) to.write(part, () => cut && this.#cut(pair));
      });
    });
    from.on('close', () => {
      if (pair.isLost) return; // the other end does not notice
      inTime(() => to.end());
      if (from === pair.client) this.#pairs.delete(pair);
    });
  }

  #cut(pair: Pair): void {
    this.#pairs.delete(pair);
    pair.isLost = true;
    pair.client.resetAndDestroy();
    pair.target.end(); // not destroyed, so that the target gets what was sent
  }
}
