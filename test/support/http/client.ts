/** The status of a response, or why there is none: the connection broke after the request was sent, or could not be opened. */
export type Answer = number | 'broken' | 'unreachable';

/** A client with one persistent connection that sends one request at a time. It takes a tenth of the CPU time of `fetch`. */
export class Client {
  readonly #url: URL;
  #socket: Bun.Socket | undefined;
  #received = '';
  #settle: ((answer: Answer) => void) | undefined;
  /** The body of the last response. */
  body = '';

  constructor(url: string) {
    this.#url = new URL(url);
  }

  async get(path: string, key: string): Promise<Answer> {
    const request = `GET ${path} HTTP/1.1\r\nHost: ${this.#url.host}\r\nX-Api-Key: ${key}\r\n\r\n`;
    const answer = new Promise<Answer>((resolve) => {
      this.#settle = resolve;
    });
    try {
      this.#socket ??= await this.#connect();
      this.#socket.write(request);
    } catch {
      this.#end('unreachable');
    }
    return answer;
  }

  close(): void {
    const socket = this.#socket;
    this.#socket = undefined; // before `end`, which may call `close` synchronously
    socket?.end();
  }

  #connect(): Promise<Bun.Socket> {
    return Bun.connect({
      hostname: this.#url.hostname,
      port: Number(this.#url.port),
      socket: {
        data: (_, bytes) => this.#take(bytes.toString('latin1')),
        // A connection that was replaced has no request in progress.
        close: (socket) => {
          if (socket === this.#socket) this.#end('broken');
        },
      },
    });
  }

  #take(text: string): void {
    this.#received += text;
    const head = this.#received.indexOf('\r\n\r\n');
    if (head < 0) return;
    const headers = this.#received.slice(0, head);
    const length = Number(/content-length: (\d+)/i.exec(headers)?.[1] ?? 0);
    if (this.#received.length < head + 4 + length) return;
    this.body = this.#received.slice(head + 4, head + 4 + length);
    if (/connection: close/i.test(headers)) this.close();
    const settle = this.#settle;
    this.#settle = undefined;
    this.#received = '';
    settle?.(Number(headers.slice(9, 12)));
  }

  #end(answer: Answer): void {
    this.#socket = undefined;
    this.#received = '';
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(answer);
  }
}
