import type { Socket } from 'bun';
import { PooledBuffer } from '../message/buffer-pool.ts';
import { type Fault, failure, fault } from '../message/fault.ts';
import type { IncomingRequest } from '../message/incoming-request.ts';
import {
  CONTINUE,
  connectionLine,
  hasBody,
  type RawReply,
  type Reply,
  replyBytes,
  withLine,
} from '../message/reply.ts';
import type { Framing } from '../parse/fields.ts';
import type { Head } from '../parse/head.ts';
import { AHEAD_BYTES_MAX, type ConnectionState, REQUESTS_A_LOOK, secondsMax } from './limits.ts';
import type { ConnectionOptions, Handler } from './options.ts';
import { ReceiveBuffer } from './receive-buffer.ts';
import { RequestBody } from './request-body.ts';
import { SendQueue } from './send-queue.ts';

/**
 * One client's connection: requests in, answers out, in their order, one at a time.
 *
 *     new ─► head ─► answering ◄─► body     read when the handler asks for it, or skipped after the answer
 *             ▲        │   ▲
 *             │        │   └─► stuck        the client does not take its answer
 *             └─ idle ◄┤
 *                      └─► lingering        the last word is said, and the client may still be sending
 *
 * Only the socket's events, the handler's promises and `sweep` move it. Whatever has been answered calls `#finish`, which
 * may read the next request, which may be answered at once: `#isPumping` makes that a loop and not a recursion.
 */
export class Connection {
  readonly #socket: Socket<Connection>;
  readonly #options: ConnectionOptions;
  readonly #received = new ReceiveBuffer();
  readonly #sendQueue: SendQueue;
  readonly #peer: () => string;
  #state: ConnectionState = 'new';
  #since: number;
  #isPumping = false;
  /** Whether something has arrived that is read at the end of this turn. */
  #isToRead = false;
  #isEnded = false;
  /** Whether the answer under way is the last. */
  #isLast = false;
  /** When the first byte of the request under way arrived, and of what is read next. */
  #arrivedAt = 0;
  #nextArrivedAt = 0;
  /** Whether the answer under way goes on until the client hangs up. */
  #isEndless = false;
  /** Until it was read or skipped to its end. */
  #body: RequestBody | undefined;

  constructor(socket: Socket<Connection>, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#sendQueue = new SendQueue(socket, options.turn, () => this.#isFree() && this.#enter('stuck'));
    this.#peer = () => socket.remoteAddress ?? ''; // which who is gone has no more
    this.#since = options.server.second;
  }

  /** What it is doing. Who has something to be read or sent is not at rest, whatever it did before. */
  get state(): ConnectionState {
    return this.#isToRead || this.#sendQueue.isToPost ? 'answering' : this.#state;
  }

  receive(chunk: Buffer): void {
    if (this.#state === 'lingering') return;
    if (this.#received.length === 0) this.#nextArrivedAt = this.#options.turn.arrivedAt;
    this.#received.add(chunk);
    this.#awaitTurn();
    if (this.#received.length > AHEAD_BYTES_MAX) this.read(); // a thousand who send so much would fill the memory
  }

  #awaitTurn(): void {
    if (this.#isToRead) return;
    this.#isToRead = true;
    this.#options.turn.reads(this);
  }

  /** The turn is over, and what has arrived in it is read. */
  read(): void {
    this.#isToRead = false;
    try {
      if (!this.#sendQueue.isClosed) this.#pump();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The client takes more. */
  drained(): void {
    if (this.#state === 'stuck') this.#enter('stuck');
    if (this.#sendQueue.flush() && this.#state === 'stuck' && !this.#sendQueue.isStreaming) this.#finish();
  }

  /** The client sends no more. What it has asked is answered all the same, but for a stream without an end. */
  ended(): void {
    this.#isEnded = true;
    if (this.#sendQueue.isStreaming && this.#isEndless) this.#socket.end();
    else if (!this.#isToRead) this.#stopWaiting();
  }

  closed(): void {
    this.#received.clear();
    this.#sendQueue.close();
    this.#body?.fail(fault(400, 'the client is gone'));
  }

  /** Once a second: what lasts too long is ended, unless the end of it has just come. */
  sweep(): void {
    if (this.#isToRead) this.read();
    const lasted = this.#options.server.second - this.#since;
    if (lasted <= secondsMax(this.#state, this.#body?.length ?? 0)) return;
    const late = fault(408, 'the request did not come to its end in time');
    if (this.#state === 'head') this.#refuseHead(late);
    else if (this.#state === 'body' && this.#body!.isAwaited) this.#failBody(late);
    else if (this.#state === 'stuck') this.#socket.terminate();
    else this.#socket.end(); // what the system has taken still goes out, however slow the client
  }

  /** Closes, unless something is under way: that is answered first. */
  drain(): void {
    if (this.#isFree() && this.#received.length === 0) this.#end();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Closes without an answer, which tells the client that what it has is not complete. */
  #fail(error: unknown): void {
    this.#options.onError(error);
    this.terminate();
  }

  /** Whether the next request may be read. */
  #isFree(): boolean {
    return this.#state === 'idle' || this.#state === 'new' || this.#state === 'head';
  }

  #enter(state: ConnectionState): void {
    this.#state = state;
    this.#since = this.#options.server.second;
  }

  /** Reads what has arrived, one request after the other, until one must be waited for. */
  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    for (let done = 1; this.#received.length > 0; done++) {
      const goesOn = this.#state === 'body' ? this.#readBody() : this.#isFree() && this.#readHead();
      if (!goesOn) break;
      if (done % REQUESTS_A_LOOK === 0 && this.#options.turn.isOver) {
        this.#awaitTurn();
        break;
      }
    }
    this.#isPumping = false;
    const waits = this.#isToRead || this.#state === 'answering' || this.#state === 'stuck';
    this.#received.throttle(this.#socket, waits);
    if (this.#isEnded && !this.#isToRead) this.#stopWaiting();
  }

  /** The client sends no more, so whatever waits for more is over. */
  #stopWaiting(): void {
    if (this.#state === 'answering' || this.#state === 'stuck') return;
    if (this.#state === 'body' && this.#body!.isAwaited) this.#failBody(fault(400, 'the body ends too soon'));
    else this.#end();
  }

  /** False when the rest of the head is still to come. */
  #readHead(): boolean {
    const head = this.#received.takeHead(this.#options.heads);
    if (head === undefined) {
      if (this.#received.length > 0 && this.#state !== 'head') this.#enter('head');
      return false;
    }
    if ('why' in head) this.#refuseHead(head);
    else this.#answer(head);
    return true;
  }

  #answer(head: Head): void {
    this.#enter('answering');
    this.#arrivedAt = this.#nextArrivedAt;
    this.#options.server.requests++;
    this.#isLast = !head.persists || this.#options.server.isClosing;
    const request = head.framing ? this.#withBody(head, head.framing) : head;
    let answer: ReturnType<Handler>;
    try {
      answer = this.#options.handle(request, this.#peer);
    } catch (error) {
      this.#refuse(failure(error));
      return;
    }
    if (answer instanceof Promise) {
      const failed = (error: unknown) => this.#refuse(failure(error));
      answer.then((made) => this.#give(made, head), failed).catch((error) => this.#fail(error));
    } else this.#give(answer, head);
  }

  #give(answer: RawReply | Reply, head: Head): void {
    if (answer.timer) this.#options.turn.times(answer.timer, this.#arrivedAt);
    if (head.cacheKey !== undefined && answer.isAuthenticated) this.#options.heads.keep(head);
    if ('bytes' in answer) this.#sendRaw(answer, head);
    else this.#send(answer, head);
  }

  #refuseHead(fault: Fault): void {
    this.#arrivedAt = this.#nextArrivedAt;
    this.#refuse(fault);
  }

  /** Answers what cannot be read, and closes: where the next request begins is not known. */
  #refuse(fault: Fault): void {
    this.#enter('answering');
    this.#received.clear();
    this.#isLast = true;
    const reply = this.#options.refuse(fault);
    if (reply.timer) this.#options.turn.times(reply.timer, this.#arrivedAt);
    this.#send(reply, undefined);
  }

  #sendRaw({ bytes }: RawReply, head: Head): void {
    if (this.#sendQueue.isClosed) return;
    if (this.#body?.leave() || this.#options.server.isClosing) this.#isLast = true;
    const { securityLine } = this.#options;
    const isPooled = bytes instanceof PooledBuffer;
    if (this.#isLast || head.isHttp10 || securityLine !== '') {
      const line = connectionLine(this.#isLast, head) + securityLine;
      this.#sendQueue.write(withLine(isPooled ? bytes.take() : bytes, line));
      if (isPooled) bytes.release(); // `withLine` made a copy
    } else if (isPooled) this.#sendQueue.writePooled(bytes);
    else this.#sendQueue.write(bytes);
    this.#finish();
  }

  #send(reply: Reply, head: Head | undefined): void {
    const stream = reply.body instanceof ReadableStream ? reply.body : undefined;
    const isStreamed =
      stream && hasBody(reply.status) && head?.method !== 'HEAD' && !this.#sendQueue.isClosed;
    if (!isStreamed) void stream?.cancel().catch(() => {});
    if (this.#sendQueue.isClosed) return;
    if (this.#body?.leave()) this.#isLast = true;
    if (reply.headers.Connection === 'close' || this.#options.server.isClosing) this.#isLast = true;
    const isChunked = reply.length === undefined && !head?.isHttp10;
    // Without chunks or a length, the end of the connection is the end of the stream.
    if (isStreamed && reply.length === undefined && !isChunked) this.#isLast = true;
    const { clock, securityLine } = this.#options;
    const line = reply.headers.Connection ? '' : connectionLine(this.#isLast, head);
    this.#sendQueue.write(replyBytes(reply, head, line + securityLine, clock.now()));
    const finish = () => this.#finish();
    const brokeOff = (error: unknown) => this.#fail(error);
    const onStuck = (isStuck: boolean) => this.#enter(isStuck ? 'stuck' : 'answering');
    this.#isEndless = reply.isEndless ?? false;
    if (isStreamed) void this.#sendQueue.pipe(stream, isChunked, onStuck).then(finish, brokeOff);
    else finish();
  }

  /** The answer is written. When the client has taken it, it is the next request's turn. */
  #finish(): void {
    if (this.#sendQueue.isClosed) return;
    if (this.#sendQueue.isStuck || (this.#isLast && !this.#sendQueue.flush())) {
      this.#enter('stuck');
    } else if (this.#isLast) {
      this.#close();
    } else if (this.#body) {
      this.#enter('body'); // to the end of what is skipped
      this.#pump();
    } else this.#rest();
  }

  /** Everything is answered that was asked. */
  #rest(): void {
    this.#enter('idle');
    if (this.#received.length > 0) this.#pump();
    else if (this.#isEnded || this.#options.server.isClosing) this.#end();
  }

  /** Nothing more is asked. What was answered goes out first, and what is asked meanwhile is answered too. */
  #end(): void {
    if (this.#sendQueue.flush()) this.#socket.end();
    else this.#enter('stuck');
  }

  /** A client that is still sending would lose the answer to a reset: it is heard out for a moment. */
  #close(): void {
    this.#enter('lingering');
    this.#received.clear();
    this.#received.throttle(this.#socket, false);
    if (this.#isEnded) this.#socket.end();
    else this.#socket.shutdown();
  }

  #withBody({ method, url, headers, expectsContinue }: Head, framing: Framing): IncomingRequest {
    const body = new RequestBody(framing, expectsContinue, () => this.#awaitBody(body));
    this.#body = body;
    return { method, url, headers, text: () => body.text() };
  }

  #awaitBody(body: RequestBody): void {
    if (body.fault) {
      this.#failBody(body.fault);
      return;
    }
    if (body.isHeldBack && this.#received.length === 0) this.#sendQueue.write(CONTINUE);
    body.isHeldBack = false;
    this.#enter('body');
    this.#pump();
  }

  /** False when more of it must come first. */
  #readBody(): boolean {
    const body = this.#body!;
    const broken = this.#received.takeBody(body);
    if (broken) {
      this.#received.clear();
      this.#isLast = true;
      if (body.isAwaited) this.#failBody(broken);
      else this.#finish();
      return false;
    }
    if (!body.isDone) return false;
    this.#body = undefined;
    if (body.isAwaited) {
      this.#enter('answering');
      body.deliver();
    } else this.#rest();
    return true;
  }

  /** Where the next request begins is not known: the answer is the last. */
  #failBody(fault: Fault): void {
    this.#isLast = true;
    this.#enter('answering');
    this.#body!.fail(fault);
  }
}
