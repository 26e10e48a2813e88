import { allocate, type Bytes, bufferPool, type PooledBuffer } from '../../http/message/buffer-pool.ts';

/** ASCII codes for `byte`. */
export const [OPEN, COMMA, CLOSE] = [0x7b, 0x2c, 0x7d];

/** How many bytes a packet reserves for the response head, in front of the body. Most heads fit. */
export const HEAD_ROOM = 1_024;

/** Most bodies fit. */
const BYTES_USUAL = 64 * 1024;

/** Lengths are rounded up, so that answers of about the same length reuse the same buffers. */
const PACKET_STEP = 1024;

/**
 * Writes a body piece by piece, as bytes: concatenating long strings and encoding them takes three times as long. One writer
 * serves every response, so copy its content before the next one starts.
 */
export class ByteWriter {
  #bytes: Bytes = allocate(BYTES_USUAL);
  #length = 0;
  #contentFrom = 0;

  /** Starts an empty body. */
  clear(): this {
    if (this.#bytes.length > BYTES_USUAL) this.#bytes = allocate(BYTES_USUAL);
    this.#length = 0;
    this.#contentFrom = 0;
    return this;
  }

  get length(): number {
    return this.#length;
  }

  /** Excludes what was written so far from the entity tag: it differs in every response. */
  beginContent(): void {
    this.#contentFrom = this.#length;
  }

  text(text: string): void {
    this.#makeRoom(text.length * 3);
    this.#length += this.#bytes.utf8Write(text, this.#length);
  }

  /** Faster than `text`, for ASCII only. */
  ascii(text: string): void {
    this.#makeRoom(text.length);
    this.#length += this.#bytes.latin1Write(text, this.#length);
  }

  /** Replaces one ASCII character. */
  overwrite(at: number, code: number): void {
    this.#bytes[at] = code;
  }

  /** Appends a part of `bytes`. */
  copy(bytes: Uint8Array, from: number, to: number): void {
    this.#makeRoom(to - from);
    (bytes as Buffer).copy(this.#bytes, this.#length, from, to);
    this.#length += to - from;
  }

  /** Appends one ASCII character. */
  byte(code: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#length++] = code;
  }

  get contentFrom(): number {
    return this.#contentFrom;
  }

  /** A copy of what was written. */
  bytes(): Bytes {
    const bytes = allocate(this.#length);
    this.#bytes.copy(bytes, 0, 0, this.#length);
    return bytes;
  }

  /** Copies what was written into a pooled buffer, after `room` free bytes. */
  packet(room: number): PooledBuffer {
    const packet = bufferPool.acquire(Math.ceil((room + this.#length) / PACKET_STEP) * PACKET_STEP);
    this.#bytes.copy(packet.memory, room, 0, this.#length);
    return packet;
  }

  #makeRoom(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const bytes = allocate(Math.max(this.#bytes.length * 2, this.#length + count));
    this.#bytes.copy(bytes, 0, 0, this.#length);
    this.#bytes = bytes;
  }
}
