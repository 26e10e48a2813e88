import { connect, createServer, type Server, type Socket } from 'node:net';

/** One connection of a client, and the one to the target that was made for it. */
interface Pair {
  client: Socket;
  target: Socket;
  /** Bytes of it were swallowed: it is dead for good, and neither end is told. */
  isLost: boolean;
  fromTarget: number;
}

/**
 * Stands between a client and a server on this machine and plays a bad network. What it does can be changed at any
 * moment and holds for open connections too.
 */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  /** A black hole: connections are taken and stay open, bytes go nowhere, either way. */
  swallow = false;
  /** New connections are closed at once, as by a server that is not there. */
  refuse = false;
  /** What a refused connection is told before it is closed. */
  refusal: Uint8Array | undefined;
  /** How long bytes are under way, each way. */
  delayMs = 0;
  /** A connection is cut when so many bytes have come back on it. */
  cutAfterBytes = Number.POSITIVE_INFINITY;
  /** Says of what a client sends whether the connection is cut when the target has it, before its answer. */
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
    client.on('error', () => {}); // a reset is what is played here
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

  /** Carries bytes from one end to the other; `isLast` says whether the connection breaks behind these. */
  #carry(pair: Pair, from: Socket, to: Socket, isLast: (bytes: Buffer) => boolean): void {
    let dueAt = 0;
    const inTime = (send: () => void) => {
      dueAt = Math.max(dueAt, performance.now() + this.delayMs); // never overtakes what was sent before
      const waitMs = dueAt - performance.now();
      if (waitMs <= 0) send();
      else setTimeout(send, waitMs);
    };
    from.on('data', (bytes: Buffer) => {
      pair.isLost ||= this.swallow;
      if (pair.isLost) return;
      const cut = isLast(bytes);
      pair.isLost = cut; // at once: an answer may come before these bytes are out
      const part = bytes.subarray(
        0,
        bytes.length - Math.max(0, cut ? pair.fromTarget - this.cutAfterBytes : 0),
      );
      inTime(() => {
        if (!to.destroyed) to.write(part, () => cut && this.#cut(pair));
      });
    });
    from.on('close', () => {
      if (pair.isLost) return; // the other end is not told
      inTime(() => to.end());
      if (from === pair.client) this.#pairs.delete(pair);
    });
  }

  #cut(pair: Pair): void {
    this.#pairs.delete(pair);
    pair.isLost = true;
    pair.client.resetAndDestroy();
    pair.target.end(); // not destroyed: what the target was sent, it has
  }
}
