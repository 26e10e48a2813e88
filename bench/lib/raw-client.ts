import type { Socket } from 'bun';

const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');
const HEAD_END = '\r\n\r\n';

/** One connection whose responses are read and discarded, as `cat > /dev/null` does with a pipe. */
export class RawClient {
  readonly #socket: Socket;
  readonly #host: string;
  #done: PromiseWithResolvers<number> | undefined;
  #received = 0;
  /** The length of the whole response; unknown until its head has arrived, and while it is chunked. */
  #expected: number | undefined;
  #isChunked = false;
  /** Of the last response. */
  status = 0;
  /** The last bytes received: the end may arrive in parts. */
  #tail = Buffer.alloc(0);

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
  }

  static async connect(url: string): Promise<RawClient> {
    const { hostname, port, host } = new URL(url);
    let client: RawClient | undefined;
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: { data: (_, bytes) => client!.#receive(bytes) },
    });
    client = new RawClient(socket, host);
    return client;
  }

  /** The length of the response to a GET, head included. */
  get(path: string, key: string): Promise<number> {
    this.#done = Promise.withResolvers();
    this.#received = 0;
    this.#expected = undefined;
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nx-api-key: ${key}\r\n\r\n`);
    return this.#done.promise;
  }

  close(): void {
    this.#socket.end();
  }

  #receive(bytes: Buffer): void {
    if (this.#received === 0) this.#readHead(bytes);
    this.#received += bytes.length;
    this.#tail = Buffer.concat([this.#tail, bytes.subarray(-LAST_CHUNK.length)]).subarray(-LAST_CHUNK.length);
    const isOver = this.#isChunked ? this.#tail.equals(LAST_CHUNK) : this.#received >= this.#expected!;
    if (isOver) this.#done!.resolve(this.#received);
  }

  #readHead(bytes: Buffer): void {
    const headLength = bytes.indexOf(HEAD_END) + HEAD_END.length;
    const head = bytes.toString('latin1', 0, headLength);
    this.status = Number(head.slice(9, 12));
    const length = /\r\nContent-Length: (\d+)/i.exec(head)?.[1];
    this.#isChunked = length === undefined;
    this.#expected = length === undefined ? undefined : headLength + Number(length);
  }
}
