import type { Socket } from 'bun';
import type { PooledBuffer } from '../message/buffer-pool.ts';
import type { ConnectionPhase } from './connection-phase.ts';
import type { IoBatch } from './io-batch.ts';

/** More than this is sent at once, without waiting for the end of the batch. */
const BATCHED_BYTES_MAX = 64 * 1024;
/** Longer responses are sent in several writes, so that the client reads one while the next is written. */
const WRITE_BYTES_MAX = 256 * 1024;
/** After this much, which takes about 0.6 ms, the other clients go first. */
const TURN_BYTES_MAX = 1024 * 1024;

export interface SendEvents {
  /** The client turned out to be blocked at the end of a batch. */
  onBlocked(): void;
  /** The rest of a long response is to be flushed in the next turn of the event loop. */
  onPaused(): void;
  /** Sending failed for another reason than the network. */
  onError(error: unknown): void;
}

/** The bytes from `start` to `end`. */
interface Part {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** The buffer that they belong to, if it is pooled. */
  readonly pooled: PooledBuffer | undefined;
}

/** Bytes to send. They are collected, and sent at the end of the batch. */
export class SendQueue {
  readonly #socket: Pick<Socket<unknown>, 'write'>;
  readonly #batch: IoBatch;
  readonly #events: SendEvents;
  #parts: Part[] = [];
  #length = 0;
  #onUnblocked: PromiseWithResolvers<void> | undefined;
  /** The response stream in progress, which is canceled if the client disconnects. */
  #stream: { cancel(): Promise<void> } | undefined;
  /** Whether something waits for the end of the batch. */
  isScheduled = false;
  isClosed = false;
  /** Whether the client does not read what was sent to it, or the rest of a response waits for its turn. */
  isBlocked = false;

  constructor(socket: Pick<Socket<unknown>, 'write'>, batch: IoBatch, events: SendEvents) {
    this.#socket = socket;
    this.#batch = batch;
    this.#events = events;
  }

  /** Takes a pooled buffer, and releases it when it is sent. */
  writePooled(pooled: PooledBuffer): void {
    const bytes = pooled.takeWhole();
    if (this.isClosed) pooled.release();
    else this.#add({ bytes, start: pooled.start, end: pooled.end, pooled });
  }

  /** From now on `bytes` must not change. */
  write(bytes: Uint8Array): void {
    if (this.isClosed) return;
    this.#add({ bytes, start: 0, end: bytes.length, pooled: undefined });
  }

  /** From now on the parts must not change. They are sent without a copy. */
  writeParts(parts: readonly Uint8Array[]): void {
    if (this.isClosed) return;
    for (const bytes of parts) this.#push({ bytes, start: 0, end: bytes.length, pooled: undefined });
    this.#schedule();
  }

  #add(part: Part): void {
    this.#push(part);
    this.#schedule();
  }

  #push(part: Part): void {
    this.#parts.push(part);
    this.#length += part.end - part.start;
  }

  #schedule(): void {
    if (this.isBlocked) return;
    if (this.#length > BATCHED_BYTES_MAX) this.flush();
    else if (!this.isScheduled) {
      this.isScheduled = true;
      this.#batch.addSender(this);
    }
  }

  /** Called at the end of the batch. */
  sendBatch(): void {
    this.isScheduled = false;
    try {
      if (!this.isClosed && !this.flush()) this.#events.onBlocked();
    } catch (error) {
      this.#events.onError(error); // the responses of other clients are still to be sent
    }
  }

  /** Sends a stream as fast as the client reads it. */
  async pipe(stream: ReadableStream<Uint8Array>, isChunked: boolean, phase: ConnectionPhase): Promise<void> {
    const reader = stream.getReader();
    this.#stream = reader;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || !value || this.isClosed) break;
        if (value.length === 0) continue; // an empty chunk would end the body
        this.writeParts(isChunked ? chunk(value) : [value]);
        if (!this.isBlocked) continue;
        phase.enter('blocked');
        await this.#unblocked();
        phase.enter('handling');
      }
      if (isChunked) this.write(LAST_CHUNK);
    } finally {
      this.#stream = undefined;
    }
  }

  get isStreaming(): boolean {
    return this.#stream !== undefined;
  }

  /** Sends what is queued. Returns false if the client does not accept all of it. */
  flush(): boolean {
    if (this.#length > BATCHED_BYTES_MAX) this.#sendParts();
    else if (this.#length > 0) this.#sendJoined();
    this.isBlocked = this.#length > 0;
    if (this.isBlocked) return false;
    this.#onUnblocked?.resolve();
    this.#onUnblocked = undefined;
    return true;
  }

  /** Sends short parts together: a copy costs less than a write. */
  #sendJoined(): void {
    const parts = this.#parts;
    const isOne = parts.length === 1;
    const { bytes, start, end, pooled } = isOne ? parts[0]! : joined(parts);
    const sent = Math.max(0, this.#socket.write(bytes, start, end - start));
    this.#length -= sent;
    this.#parts = this.#length > 0 ? [{ bytes, start: start + sent, end, pooled }] : [];
    // What is not sent of a single part is still in its buffer.
    if (this.#length === 0 || !isOne) for (const part of parts) part.pooled?.release();
  }

  /** Sends long parts one by one, without a copy, until the client does not accept more or its turn is over. */
  #sendParts(): void {
    const parts = this.#parts;
    const lengthAtEnd = this.#length - TURN_BYTES_MAX;
    let done = 0;
    while (done < parts.length) {
      if (this.#length <= lengthAtEnd) {
        this.#events.onPaused();
        break;
      }
      const { bytes, start, end, pooled } = parts[done]!;
      const size = Math.min(end - start, WRITE_BYTES_MAX);
      const sent = Math.max(0, this.#socket.write(bytes, start, size));
      this.#length -= sent;
      if (start + sent === end) {
        pooled?.release();
        done++;
      } else parts[done] = { bytes, start: start + sent, end, pooled };
      if (sent < size) break;
    }
    this.#parts = parts.slice(done);
  }

  /** Resolves when the client has read everything, or has disconnected. */
  #unblocked(): Promise<void> {
    if (!this.isBlocked || this.isClosed) return Promise.resolve();
    this.#onUnblocked ??= Promise.withResolvers();
    return this.#onUnblocked.promise;
  }

  /** Cancels the stream. What was read from it is still sent. */
  endStream(onError: (error: unknown) => void): void {
    void this.#stream?.cancel().catch(onError);
  }

  /** Drops what is queued and cancels the stream. */
  close(onError: (error: unknown) => void): void {
    this.isClosed = true;
    for (const { pooled } of this.#parts) pooled?.release();
    this.#parts = [];
    this.#length = 0;
    this.#onUnblocked?.resolve();
    this.endStream(onError);
  }
}

function joined(parts: readonly Part[]): Part {
  const bytes = Buffer.concat(parts.map((part) => part.bytes.subarray(part.start, part.end)));
  return { bytes, start: 0, end: bytes.length, pooled: undefined };
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n');

const CHUNK_END = Buffer.from('\r\n');

function chunk(bytes: Uint8Array): Uint8Array[] {
  return [Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CHUNK_END];
}
