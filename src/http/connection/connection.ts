import type { Socket } from 'bun';
import { type Fault, fault, handlerFault } from '../message/fault.ts';
import type { Handler } from '../message/handler.ts';
import type { IncomingRequest } from '../message/incoming-request.ts';
import type { RawReply, Reply } from '../message/reply.ts';
import { CONTINUE } from '../message/serialize.ts';
import type { Framing } from '../parse/fields.ts';
import type { Head } from '../parse/head.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { ConnectionPhase } from './connection-phase.ts';
import { type ConnectionState, PIPELINED_BYTES_MAX, REQUESTS_PER_TIME_CHECK } from './limits.ts';
import { ReceiveBuffer } from './receive-buffer.ts';
import { RequestBody } from './request-body.ts';
import { ResponseWriter } from './response-writer.ts';
import { SendQueue } from './send-queue.ts';

/**
 * One client's connection. It handles one request at a time, and responds in the order of the requests.
 *
 *     new ─► head ─► handling ◄─► body      read when the handler asks for it, or skipped after the response
 *             ▲        │   ▲
 *             │        │   └─► blocked      the client does not read its response
 *             └─ idle ◄┤
 *                      └─► lingering        the last response is sent, and the client may still be sending
 *
 * Only the socket's events, the handler's promises and `sweep` change the state. `#finish` may parse the next request,
 * which may be handled synchronously and call `#finish` again: `#isPumping` turns this recursion into a loop.
 */
export class Connection {
  readonly #socket: Socket<Connection>;
  readonly #options: ConnectionOptions;
  readonly #phase: ConnectionPhase;
  readonly #received = new ReceiveBuffer();
  readonly #sendQueue: SendQueue;
  readonly #writer: ResponseWriter;
  readonly #peer: () => string;
  readonly #fail: (error: unknown) => void;
  #isPumping = false;
  /** Whether bytes have arrived that are parsed in this batch. */
  #isScheduled = false;
  /** Whether the client has closed its side of the connection. */
  #isEnded = false;
  /** Whether it closes once it is idle. Before that, a request may be on its way: the last response may not have said "close". */
  #isDraining = false;
  /** When the first byte arrived, of the request in progress and of the next one. */
  #arrivedAt = 0;
  #nextArrivedAt = 0;
  /** The body of the request in progress, until it is read or skipped to its end. */
  #body: RequestBody | undefined;

  constructor(socket: Socket<Connection>, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#phase = new ConnectionPhase(options.server);
    // Closes without a response, so that the client knows that what it has is incomplete.
    this.#fail = (error) => {
      options.onError(error);
      socket.terminate();
    };
    this.#sendQueue = new SendQueue(socket, options.batch, {
      onBlocked: () => this.#phase.isReadable && this.#phase.enter('blocked'),
      onPaused: () => setImmediate(() => this.#sendRest()),
      onError: this.#fail,
    });
    this.#writer = new ResponseWriter(this.#sendQueue, options);
    this.#peer = () => socket.remoteAddress ?? ''; // undefined once the peer has disconnected
  }

  /** What the connection is doing. It is not idle while something waits to be parsed or sent. */
  get state(): ConnectionState {
    return this.#isScheduled || this.#sendQueue.isScheduled ? 'handling' : this.#phase.state;
  }

  /** How long the connection has been in its state, or its client has read nothing. */
  get seconds(): number {
    return this.#options.server.second - this.#phase.since;
  }

  receive(chunk: Buffer): void {
    if (this.#phase.state === 'lingering') return;
    if (this.#received.length === 0) this.#nextArrivedAt = this.#options.batch.arrivedAt;
    this.#received.add(chunk);
    this.#schedule();
    if (this.#received.length > PIPELINED_BYTES_MAX) this.read(); // bounds the memory of a thousand such clients
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.batch.addReader(this);
  }

  /** Parses what has arrived. Called by the batch. */
  read(): void {
    this.#isScheduled = false;
    try {
      if (!this.#sendQueue.isClosed) this.#pump();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The client reads again. */
  drained(): void {
    if (this.#phase.state === 'blocked') this.#phase.enter('blocked');
    this.#sendRest();
  }

  #sendRest(): void {
    try {
      const isFlushed = this.#sendQueue.flush();
      if (isFlushed && this.#phase.state === 'blocked' && !this.#sendQueue.isStreaming) this.#finish();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The client sends no more. Its requests are still answered; only an endless stream ends. */
  ended(): void {
    this.#isEnded = true;
    if (this.#sendQueue.isStreaming) this.#endEndlessStream();
    else if (!this.#isScheduled) this.#stopWaiting();
  }

  /** In a later turn of the event loop, so that the client, which may still be reading, gets what the stream starts with. */
  #endEndlessStream(): void {
    if (this.#writer.isEndless) setImmediate(() => this.#sendQueue.endStream(this.#options.onError));
  }

  closed(): void {
    this.#received.clear();
    this.#sendQueue.close(this.#options.onError);
    this.#body?.fail(fault(400, 'the client has disconnected'));
  }

  /** Enforces the time limits. Called once a second. */
  sweep(): void {
    if (this.#isScheduled) this.read(); // may complete what would be overdue
    try {
      if (this.#phase.isOverdue(this.#body?.length ?? 0)) this.#timeOut();
    } catch (error) {
      this.#fail(error);
    }
  }

  #timeOut(): void {
    const { state } = this.#phase;
    const timeout = fault(408, 'the request was not complete in time');
    if (state === 'head') this.#refuse(timeout, this.#nextArrivedAt);
    else if (state === 'body' && this.#body!.isAwaited) this.#failBody(timeout);
    else if (state === 'blocked') this.#socket.terminate();
    else this.#socket.end(); // bytes that the system has accepted still reach a slow client
  }

  /** Closes the connection after the request in progress. */
  drain(): void {
    this.#isDraining = true;
    if (this.#phase.isReadable && this.#received.length === 0) this.#end();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Parses what has arrived, request by request, until one has to wait. */
  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    for (let done = 1; this.#received.length > 0; done++) {
      const isReadingBody = this.#phase.state === 'body';
      const continues = isReadingBody ? this.#readBody() : this.#phase.isReadable && this.#parseHead();
      if (!continues) break;
      if (done % REQUESTS_PER_TIME_CHECK === 0 && this.#options.batch.isTimeUp) {
        this.#schedule();
        break;
      }
    }
    this.#isPumping = false;
    this.#received.throttle(this.#socket, this.#isScheduled || this.#phase.isBusy);
    if (this.#isEnded && !this.#isScheduled) this.#stopWaiting();
  }

  /** The client sends no more, so an incomplete request stays incomplete. */
  #stopWaiting(): void {
    if (this.#phase.isBusy) return;
    if (this.#phase.state === 'body' && this.#body!.isAwaited)
      this.#failBody(fault(400, 'the body ends too soon'));
    else this.#end();
  }

  /** Returns false while the head is incomplete. */
  #parseHead(): boolean {
    const head = this.#received.takeHead(this.#options.headers);
    if (head === undefined) {
      if (this.#received.length > 0 && this.#phase.state !== 'head') this.#phase.enter('head');
      return false;
    }
    if ('reason' in head) this.#refuse(head, this.#nextArrivedAt);
    else this.#handle(head);
    return true;
  }

  #handle(head: Head): void {
    this.#phase.enter('handling');
    this.#arrivedAt = this.#nextArrivedAt;
    this.#options.server.requests++;
    this.#writer.isLast = !head.persists || this.#options.server.isClosing;
    const request = head.framing ? this.#withBody(head, head.framing) : head;
    let answer: ReturnType<Handler>;
    try {
      answer = this.#options.handle(request, this.#peer);
    } catch (error) {
      this.#refuse(handlerFault(error));
      return;
    }
    if (answer instanceof Promise) {
      const refuse = (error: unknown) => this.#refuse(handlerFault(error));
      answer.then((made) => this.#respond(made, head), refuse).catch(this.#fail);
    } else this.#respond(answer, head);
  }

  #respond(answer: RawReply | Reply, head: Head): void {
    if (answer.timer) this.#options.batch.addTimer(answer.timer, this.#arrivedAt);
    if (head.fields.cacheKey !== undefined && answer.isAuthenticated) this.#options.headers.keep(head);
    this.#send(answer, head);
  }

  /** Responds with an error and closes: it is unknown where the next request begins. */
  #refuse(fault: Fault, arrivedAt = this.#arrivedAt): void {
    this.#phase.enter('handling');
    this.#received.clear();
    this.#writer.isLast = true;
    const reply = this.#options.refuse(fault);
    if (reply.timer) this.#options.batch.addTimer(reply.timer, arrivedAt);
    this.#send(reply, undefined);
  }

  #send(reply: RawReply | Reply, head: Head | undefined): void {
    if (this.#body?.skip()) this.#writer.isLast = true;
    const streaming = this.#writer.write(reply, head, this.#phase);
    if (streaming) {
      void streaming.then(() => this.#finish()).catch(this.#fail);
      if (this.#isEnded) this.#endEndlessStream();
    } else this.#finish();
  }

  /** The response is queued. The next request follows once the client has read it. */
  #finish(): void {
    if (this.#sendQueue.isClosed) return;
    if (this.#sendQueue.isBlocked || (this.#writer.isLast && !this.#sendQueue.flush())) {
      this.#phase.enter('blocked');
    } else if (this.#writer.isLast) {
      this.#close();
    } else if (this.#body) {
      this.#phase.enter('body'); // to skip the rest of it
      this.#pump();
    } else this.#becomeIdle();
  }

  #becomeIdle(): void {
    this.#phase.enter('idle');
    if (this.#received.length > 0) this.#pump();
    else if (this.#isEnded || this.#isDraining) this.#end();
  }

  /** Closes an idle connection once its responses are sent. */
  #end(): void {
    if (this.#sendQueue.flush()) this.#socket.end();
    else this.#phase.enter('blocked');
  }

  /** Closes after a response. A client that is still sending would lose it to a reset, so its bytes are ignored for a while. */
  #close(): void {
    this.#phase.enter('lingering');
    this.#received.clear();
    this.#received.throttle(this.#socket, false);
    if (this.#isEnded) this.#socket.end();
    else this.#socket.shutdown();
  }

  #withBody({ method, url, headers, expectsContinue }: Head, framing: Framing): IncomingRequest {
    const body = new RequestBody(framing, expectsContinue, () => this.#awaitBody(body));
    this.#body = body;
    return { method, url, headers, bytes: () => body.bytes() };
  }

  #awaitBody(body: RequestBody): void {
    if (body.fault) {
      this.#failBody(body.fault);
      return;
    }
    if (body.awaitsContinue && this.#received.length === 0) this.#sendQueue.write(CONTINUE);
    body.awaitsContinue = false;
    this.#phase.enter('body');
    this.#pump();
  }

  /** Returns false while the body is incomplete. */
  #readBody(): boolean {
    const body = this.#body!;
    const invalid = this.#received.takeBody(body);
    if (invalid) {
      this.#received.clear();
      this.#writer.isLast = true;
      if (body.isAwaited) this.#failBody(invalid);
      else this.#finish();
      return false;
    }
    if (!body.isComplete) return false;
    this.#body = undefined;
    if (body.isAwaited) {
      this.#phase.enter('handling');
      body.deliver();
    } else this.#becomeIdle();
    return true;
  }

  /** It is unknown where the next request begins, so the response closes the connection. */
  #failBody(fault: Fault): void {
    this.#writer.isLast = true;
    this.#phase.enter('handling');
    this.#body!.fail(fault);
  }
}
