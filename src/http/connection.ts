import type { Socket } from 'bun';
import { BodyFault, BodyReader } from './body.ts';
import { type Fault, fault, type Head } from './head.ts';
import type { Incoming } from './incoming.ts';
import type { KnownHeads } from './known-heads.ts';
import { Outbox } from './outbox.ts';
import { hasBody, headText, type Ready, type Reply } from './reply.ts';

export type Handle = (request: Incoming, peer: () => string) => Ready | Reply | Promise<Reply>;

export interface ConnectionOptions {
  handle: Handle;
  /** The words for a request that cannot be read. */
  refuse(fault: Fault): Reply;
  heads: KnownHeads;
  server: ServerState;
}

/** What all connections of a server share. */
export interface ServerState {
  /** Goes up by one each second, for what may not last. */
  second: number;
  /** That were answered since the start. */
  requests: number;
  /** Whether every answer is the last of its connection. */
  isClosing: boolean;
}

/** Room for the longest URL and what a browser adds. */
const HEAD_BYTES_MAX = 16 * 1024;
const BODY_BYTES_MAX = 1024 * 1024;

const BODY_BYTES_PER_SECOND_MIN = 32 * 1024;

/** What may arrive before its turn; then the client is not read from until it is. */
const AHEAD_BYTES_MAX = 64 * 1024;

/** A body that nobody wanted is skipped when it is no longer than this, and else the connection is closed. */
const SKIPPED_BYTES_MAX = 64 * 1024;

type State = keyof typeof SECONDS_MAX;

/** For how many seconds each state may last. */
const SECONDS_MAX = {
  /** Nothing was ever asked on it. */
  new: 12,
  /** From a request's first byte to the end of its head, however slowly it drips. */
  head: 12,
  /** And a second more for each 32 KB that has come. */
  body: 12,
  /** What takes long is the service's own affair. */
  answering: Number.POSITIVE_INFINITY,
  /** Without the client taking anything of its answer. */
  stuck: 30,
  /** Longer than the minute for which nginx keeps its own end. */
  idle: 75,
  /** After the last word, for the client to read it. */
  lingering: 3,
};

/**
 * One client's connection: requests in, answers out, in their order, one at a time.
 *
 *     new ─► head ─► answering ◄─► body     the body is read when the handler asks for it
 *             ▲        │   ▲
 *             │        ▼   └─► stuck        the client does not take its answer
 *             └────── idle
 *                      └─► lingering        the last word is said, and the client may still be sending
 */
export class Connection {
  readonly #socket: Socket<Connection>;
  readonly #options: ConnectionOptions;
  readonly #outbox: Outbox;
  readonly #peer: () => string;
  #state: State = 'new';
  #since: number;
  /** What has arrived and was not read. */
  #input: Buffer = EMPTY;
  #isPumping = false;
  #isPaused = false;
  #isEnded = false;
  /** Whether the answer under way is the last. */
  #isLast = false;
  #body: BodyReader | undefined;
  #onBody: PromiseWithResolvers<string> | undefined;
  #stream: { cancel(): Promise<void> } | undefined;

  constructor(socket: Socket<Connection>, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#outbox = new Outbox(socket);
    this.#peer = () => socket.remoteAddress;
    this.#since = options.server.second;
  }

  receive(chunk: Buffer): void {
    if (this.#state === 'lingering') return;
    if (this.#input.length === 0 && this.#isFree()) {
      const head = this.#options.heads.find(chunk);
      if (head) {
        this.#answer(head);
        return;
      }
    }
    this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk]);
    this.#pump();
  }

  /** The client takes more. */
  drained(): void {
    this.#since = this.#options.server.second;
    if (this.#outbox.flush() && this.#state === 'stuck' && !this.#stream) this.#finish();
  }

  /** The client sends no more. What it has asked is answered all the same. */
  ended(): void {
    this.#isEnded = true;
    if (this.#onBody) this.#failBody(fault(400, 'the body ends too soon'));
    else if (this.#stream || (this.#state !== 'answering' && this.#state !== 'stuck')) this.#socket.end();
  }

  closed(): void {
    this.#input = EMPTY;
    this.#outbox.close();
    this.#failBody(fault(400, 'the client is gone'));
    void this.#stream?.cancel().catch(() => {});
  }

  /** Once a second: what lasts too long is ended. */
  sweep(): void {
    const earned = this.#state === 'body' ? this.#body!.length / BODY_BYTES_PER_SECOND_MIN : 0;
    if (this.#options.server.second - this.#since <= SECONDS_MAX[this.#state] + earned) return;
    const late = fault(408, 'the request did not come to its end in time');
    if (this.#state === 'head') this.#refuse(late);
    else if (this.#onBody) this.#failBody(late);
    else if (this.#isFree()) this.#socket.end();
    else this.#socket.terminate();
  }

  /** Closes, unless something is under way: that is answered first. */
  drain(): void {
    if (this.#isFree() && this.#input.length === 0) this.#socket.end();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Whether nothing is under way on it but perhaps half a head. */
  get isResting(): boolean {
    return this.#isFree();
  }

  /** Whether the next request may be read. */
  #isFree(): boolean {
    return this.#state === 'idle' || this.#state === 'new' || this.#state === 'head';
  }

  #enter(state: State): void {
    this.#state = state;
    this.#since = this.#options.server.second;
  }

  /** Reads what has arrived, one request after the other, until one must be waited for. */
  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#input.length > 0) {
      const goesOn = this.#state === 'body' ? this.#readBody() : this.#isFree() && this.#readHead();
      if (!goesOn) break;
    }
    this.#isPumping = false;
    // Of a client that sends no more, nothing that is left can become a request: an empty line, or half a head.
    if (this.#isEnded && this.#isFree()) this.#socket.end();
    this.#throttle();
  }

  /** A client that sends on while its answers wait is not read from. */
  #throttle(): void {
    const waits = this.#state === 'answering' || this.#state === 'stuck';
    const pauses = waits && this.#input.length > AHEAD_BYTES_MAX;
    if (pauses === this.#isPaused) return;
    this.#isPaused = pauses;
    if (pauses) this.#socket.pause();
    else this.#socket.resume();
  }

  /** False when the rest of the head is still to come. */
  #readHead(): boolean {
    const text = this.#input.toString('latin1', 0, HEAD_BYTES_MAX + 4);
    if (text.startsWith('\r\n')) {
      this.#input = this.#input.subarray(2); // an empty line before a request means nothing
      return true;
    }
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return this.#waitForHead(text);
    const head = this.#options.heads.read(text.slice(0, end + 4));
    this.#input = this.#input.subarray(end + 4);
    if ('why' in head) this.#refuse(head);
    else this.#answer(head);
    return true;
  }

  #waitForHead(text: string): boolean {
    if (text.length > HEAD_BYTES_MAX) {
      this.#refuse(fault(431, `the headers are longer than ${HEAD_BYTES_MAX} bytes`));
    } else if (this.#state !== 'head') this.#enter('head');
    return false;
  }

  #answer(head: Head): void {
    this.#enter('answering');
    const { server } = this.#options;
    server.requests++;
    this.#isLast = !head.persists || server.isClosing;
    const request = head.framing ? this.#withBody(head, new BodyReader(head.framing, BODY_BYTES_MAX)) : head;
    const answer = this.#options.handle(request, this.#peer);
    if (answer instanceof Promise)
      answer.then((reply) => this.#send(reply, head)).catch(() => this.terminate());
    else if ('bytes' in answer) this.#sendReady(answer, head);
    else this.#send(answer, head);
  }

  /** Answers what cannot be read, and closes: where the next request begins is not known. */
  #refuse(fault: Fault): void {
    this.#enter('answering');
    this.#input = EMPTY;
    this.#isLast = true;
    this.#send(this.#options.refuse(fault), undefined);
  }

  #sendReady({ bytes }: Ready, head: Head): void {
    if (!this.#isLast && !head.isOld) this.#outbox.write(bytes);
    else this.#outbox.write(withLine(bytes, this.#connectionLine(head)));
    this.#finish();
  }

  #send({ status, headers, body }: Reply, head: Head | undefined): void {
    if (this.#outbox.isClosed) {
      if (body instanceof ReadableStream) void body.cancel().catch(() => {});
      return;
    }
    const isStream = body instanceof ReadableStream;
    if (isStream && head?.isOld) this.#isLast = true; // the end of the connection is the end of the stream
    this.#isLast ||= headers.Connection === 'close' || (this.#body?.left ?? 0) > SKIPPED_BYTES_MAX;
    let text = headText(status, headers, Date.now());
    if (!headers.Connection) text += this.#connectionLine(head);
    if (isStream) {
      if (!head?.isOld) text += 'Transfer-Encoding: chunked\r\n';
      this.#outbox.write(Buffer.from(`${text}\r\n`, 'latin1'));
      void this.#pipe(body, !head?.isOld);
      return;
    }
    if (hasBody(status)) text += `Content-Length: ${body === null ? 0 : Buffer.byteLength(body)}\r\n`;
    text += '\r\n';
    const isHeadOnly = body === null || !hasBody(status) || head?.method === 'HEAD';
    if (isHeadOnly) this.#outbox.write(Buffer.from(text, 'latin1'));
    else if (typeof body === 'string') this.#outbox.write(Buffer.from(text + body));
    else this.#outbox.write(Buffer.concat([Buffer.from(text, 'latin1'), body]));
    this.#finish();
  }

  #connectionLine(head: Head | undefined): string {
    if (this.#isLast) return 'Connection: close\r\n';
    return head?.isOld ? 'Connection: keep-alive\r\n' : '';
  }

  /** Sends a stream as it comes, and no faster than the client takes it. */
  async #pipe(stream: ReadableStream<Uint8Array>, isChunked: boolean): Promise<void> {
    const reader = stream.getReader();
    this.#stream = reader;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.#outbox.isClosed) break;
        if (value.length === 0) continue;
        this.#outbox.write(isChunked ? chunk(value) : value.slice());
        if (this.#outbox.isEmpty) continue;
        this.#enter('stuck');
        await this.#outbox.taken();
        this.#enter('answering');
      }
    } catch {
      this.#socket.terminate(); // it broke off, and the client must see that
      return;
    }
    this.#stream = undefined;
    if (isChunked) this.#outbox.write(LAST_CHUNK);
    this.#finish();
  }

  /** The answer is written. When the client has taken it, it is the next request's turn. */
  #finish(): void {
    if (this.#outbox.isClosed) return;
    if (!this.#outbox.isEmpty) {
      this.#enter('stuck');
    } else if (this.#isLast) {
      this.#close();
    } else if (this.#body) {
      this.#enter('body'); // nobody wanted it: it is skipped
      if (this.#isEnded && this.#input.length < this.#body.left) this.#socket.end();
      else this.#pump();
    } else this.#rest();
  }

  /** Everything is answered that was asked. */
  #rest(): void {
    this.#enter('idle');
    if (this.#input.length > 0) this.#pump();
    else if (this.#isEnded || this.#options.server.isClosing) this.#socket.end();
  }

  /** A client that is still sending would lose the answer to a reset: it is heard out for a moment. */
  #close(): void {
    this.#enter('lingering');
    this.#input = EMPTY;
    if (this.#isEnded) this.#socket.end();
    else this.#socket.shutdown();
  }

  #withBody({ method, url, headers, expectsContinue }: Head, body: BodyReader): Incoming {
    this.#body = body;
    let reading: Promise<string> | undefined;
    const text = () => {
      reading ??= this.#askForBody(body, expectsContinue);
      return reading;
    };
    return { method, url, headers, text };
  }

  #askForBody(body: BodyReader, expectsContinue: boolean): Promise<string> {
    const asked = Promise.withResolvers<string>();
    this.#onBody = asked;
    if (body.fault) this.#failBody(body.fault);
    else {
      if (expectsContinue && this.#input.length === 0) this.#outbox.write(CONTINUE);
      this.#enter('body');
      this.#pump();
    }
    return asked.promise;
  }

  /** False when more of it must come first. */
  #readBody(): boolean {
    const body = this.#body!;
    const taken = body.take(this.#input);
    if (typeof taken !== 'number') {
      this.#input = EMPTY;
      if (this.#onBody) this.#failBody(taken);
      else this.#close();
      return false;
    }
    this.#input = this.#input.subarray(taken);
    if (!body.isDone) return false;
    this.#body = undefined;
    const asked = this.#onBody;
    this.#onBody = undefined;
    if (!asked) this.#rest();
    else {
      this.#enter('answering');
      asked.resolve(new TextDecoder().decode(body.bytes));
    }
    return true;
  }

  #failBody(fault: Fault): void {
    const asked = this.#onBody;
    this.#onBody = undefined;
    if (!asked) return;
    this.#isLast = true;
    this.#enter('answering');
    asked.reject(new BodyFault(fault));
  }
}

const EMPTY = Buffer.alloc(0);
const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

function chunk(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/** The same answer with one more line after its first. */
function withLine(bytes: Uint8Array, line: string): Uint8Array {
  const first = bytes.indexOf(10) + 1;
  return Buffer.concat([bytes.subarray(0, first), Buffer.from(line), bytes.subarray(first)]);
}
