import type { Socket } from 'bun';
import type { PooledBuffer } from '../message/buffer-pool.ts';
import type { IoBatch } from './io-batch.ts';

/** So much is sent at once, without waiting for the end of the turn. */
const POST_BYTES_MAX = 64 * 1024;

/** What is to be sent. It is collected, and posted at the end of the event loop's turn. */
export class SendQueue {
  readonly #socket: Pick<Socket<unknown>, 'write'>;
  readonly #turn: IoBatch;
  readonly #onStuck: () => void;
  #parts: Uint8Array[] = [];
  #pooled: PooledBuffer[] = [];
  #length = 0;
  #onTaken: PromiseWithResolvers<void> | undefined;
  /** Until its end: whoever is gone wants no more of it. */
  #stream: { cancel(): Promise<void> } | undefined;
  /** Whether something waits for the end of the turn. */
  isToPost = false;
  isClosed = false;
  /** Whether the client does not take what is sent to it. */
  isStuck = false;

  /** `onStuck` hears when that shows at the end of a turn. */
  constructor(socket: Pick<Socket<unknown>, 'write'>, turn: IoBatch, onStuck: () => void) {
    this.#socket = socket;
    this.#turn = turn;
    this.#onStuck = onStuck;
  }

  /** Takes a pooled buffer, and releases it when it is sent. */
  writePooled(buffer: PooledBuffer): void {
    if (this.isClosed) return;
    const bytes = buffer.take();
    this.#pooled.push(buffer);
    this.write(bytes);
  }

  /** From now on `bytes` must not change. */
  write(bytes: Uint8Array): void {
    if (this.isClosed) return;
    this.#parts.push(bytes);
    this.#length += bytes.length;
    if (this.isStuck) return;
    if (this.#length > POST_BYTES_MAX) this.flush();
    else if (!this.isToPost) {
      this.isToPost = true;
      this.#turn.sends(this);
    }
  }

  /** The turn is over. */
  post(): void {
    this.isToPost = false;
    if (!this.isClosed && !this.flush()) this.#onStuck();
  }

  /** Writes a stream as it comes, and no faster than the client takes it. `onStuck` hears when it must wait, and when no more. */
  async pipe(
    stream: ReadableStream<Uint8Array>,
    isChunked: boolean,
    onStuck: (isStuck: boolean) => void,
  ): Promise<void> {
    const reader = stream.getReader();
    this.#stream = reader;
    for (;;) {
      const { done, value } = await reader.read();
      if (done || !value || this.isClosed) break;
      if (value.length === 0) continue; // an empty chunk would be the last
      this.write(isChunked ? chunk(value) : value);
      if (!this.isStuck) continue;
      onStuck(true);
      await this.#taken();
      onStuck(false);
    }
    if (isChunked) this.write(LAST_CHUNK);
    this.#stream = undefined;
  }

  get isStreaming(): boolean {
    return this.#stream !== undefined;
  }

  /** Sends what waits. True when nothing does any more. */
  flush(): boolean {
    if (this.#length > 0) {
      const isOne = this.#parts.length === 1;
      const bytes = isOne ? this.#parts[0]! : Buffer.concat(this.#parts);
      const sent = Math.max(0, this.#socket.write(bytes));
      this.#length -= sent;
      this.#parts = this.#length > 0 ? [bytes.subarray(sent)] : [];
      // The rest of a single part is a view of its buffer, which is then left to the garbage collector.
      if (this.#length === 0 || !isOne) for (const buffer of this.#pooled) buffer.release();
      this.#pooled = [];
    }
    this.isStuck = this.#length > 0;
    if (this.isStuck) return false;
    this.#onTaken?.resolve();
    this.#onTaken = undefined;
    return true;
  }

  /** When the client has taken everything, or is gone. */
  #taken(): Promise<void> {
    if (!this.isStuck || this.isClosed) return Promise.resolve();
    this.#onTaken ??= Promise.withResolvers();
    return this.#onTaken.promise;
  }

  close(): void {
    this.isClosed = true;
    this.#parts = [];
    this.#length = 0;
    this.#onTaken?.resolve();
    void this.#stream?.cancel().catch(() => {});
  }
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n');

function chunk(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}
