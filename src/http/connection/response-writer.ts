import { PooledBuffer } from '../message/buffer-pool.ts';
import type { RawReply, Reply } from '../message/reply.ts';
import {
  COPIED_BYTES_MAX,
  connectionLine,
  endOfFirstLine,
  hasBody,
  replyBytes,
  separateBody,
  withLines,
} from '../message/serialize.ts';
import type { Head } from '../parse/head.ts';
import type { ConnectionOptions } from './connection-options.ts';
import type { ConnectionPhase } from './connection-phase.ts';
import type { SendQueue } from './send-queue.ts';

/** Queues responses, with the header lines that depend on the connection. */
export class ResponseWriter {
  readonly #queue: SendQueue;
  readonly #options: ConnectionOptions;
  /** Whether the response in progress closes the connection. */
  isLast = false;
  /** Whether the response in progress lasts until the client disconnects. */
  isEndless = false;

  constructor(queue: SendQueue, options: ConnectionOptions) {
    this.#queue = queue;
    this.#options = options;
  }

  /** Returns a promise for the end of a streamed response, and undefined for any other. */
  write(reply: RawReply | Reply, head: Head | undefined, phase: ConnectionPhase): Promise<void> | undefined {
    if (this.#options.server.isClosing) this.isLast = true;
    this.isEndless = false;
    if (!('bytes' in reply)) return this.#serialize(reply, head, phase);
    this.#writeRaw(reply.bytes, head);
    return undefined;
  }

  /** A response that needs no other header lines is queued without a copy, and so is the body of a long one. */
  #writeRaw(bytes: PooledBuffer | Uint8Array, head: Head | undefined): void {
    const { securityLines } = this.#options;
    const isPooled = bytes instanceof PooledBuffer;
    if (this.isLast || head?.isHttp10 || securityLines !== '') {
      const lines = connectionLine(this.isLast, head) + securityLines;
      if (isPooled && bytes.end - bytes.start > COPIED_BYTES_MAX) this.#writeLong(bytes, lines);
      else this.#writeCopy(bytes, lines);
    } else if (isPooled) this.#queue.writePooled(bytes);
    else this.#queue.write(bytes);
  }

  #writeCopy(bytes: PooledBuffer | Uint8Array, lines: string): void {
    const isPooled = bytes instanceof PooledBuffer;
    this.#queue.write(withLines(isPooled ? bytes.take() : bytes, lines));
    if (isPooled) bytes.release();
  }

  /** Copies the status line only. */
  #writeLong(pooled: PooledBuffer, lines: string): void {
    const { memory, start, end } = pooled;
    const second = endOfFirstLine(memory, start);
    this.#queue.write(Buffer.concat([memory.subarray(start, second), Buffer.from(lines)]));
    pooled.crop(second, end);
    this.#queue.writePooled(pooled);
  }

  #serialize(reply: Reply, head: Head | undefined, phase: ConnectionPhase): Promise<void> | undefined {
    const { clock, securityLines } = this.#options;
    const stream = this.#streamOf(reply, head);
    const isChunked = reply.length === undefined && !head?.isHttp10;
    // Without a length or chunks, the end of the connection is the end of the stream.
    const endsByClosing = stream && reply.length === undefined && !isChunked;
    if (endsByClosing || reply.headers.Connection === 'close') this.isLast = true;
    const line = reply.headers.Connection ? '' : connectionLine(this.isLast, head);
    this.#queue.write(replyBytes(reply, head, line + securityLines, clock.now()));
    const body = separateBody(reply.body);
    if (body && hasBody(reply.status) && head?.method !== 'HEAD') this.#queue.writeParts(body);
    this.isEndless = reply.isEndless ?? false;
    return stream && this.#queue.pipe(stream, isChunked, phase);
  }

  #streamOf({ body, status }: Reply, head: Head | undefined): ReadableStream<Uint8Array> | undefined {
    if (!(body instanceof ReadableStream)) return undefined;
    if (hasBody(status) && head?.method !== 'HEAD' && !this.#queue.isClosed) return body;
    this.#cancel(body);
    return undefined;
  }

  /** Cancels the source: the client no longer reads the stream. */
  #cancel(stream: ReadableStream): void {
    void stream.cancel().catch(this.#options.onError);
  }
}
