import { allocate, type Bytes, bufferPool, type PooledBuffer } from '../../http/message/buffer-pool.ts';

/** Characters by their number, for `byte`. */
export const [OPEN, COMMA, CLOSE] = [0x7b, 0x2c, 0x7d];

/** How many bytes a packet reserves for the response head, in front of the body. Most heads fit. */
export const HEAD_ROOM = 1_024;

/** What most answers fit on. */
const BYTES_USUAL = 64 * 1024;

/** Lengths are rounded up, so that answers of about the same length reuse the same buffers. */
const PACKET_STEP = 1024;

/**
 * Where an answer is written down, piece by piece: bytes at once, for putting long strings together and turning them into
 * bytes takes three times as long. The same writer serves every answer, so what is on it must be taken before the next begins.
 */
export class ByteWriter {
  #bytes: Bytes = allocate(BYTES_USUAL);
  #length = 0;
  #contentFrom = 0;

  /** Begins anew. */
  clear(): this {
    if (this.#bytes.length > BYTES_USUAL) this.#bytes = allocate(BYTES_USUAL);
    this.#length = 0;
    this.#contentFrom = 0;
    return this;
  }

  get length(): number {
    return this.#length;
  }

  /** What stands here so far is left out of the answer's tag: it differs from answer to answer. */
  beginContent(): void {
    this.#contentFrom = this.#length;
  }

  text(text: string): void {
    this.#makeRoom(text.length * 3);
    this.#length += this.#bytes.utf8Write(text, this.#length);
  }

  /** The same for text that is known to be plain ASCII, which is faster. */
  ascii(text: string): void {
    this.#makeRoom(text.length);
    this.#length += this.#bytes.latin1Write(text, this.#length);
  }

  /** Writes one character of ASCII over another. */
  overwrite(at: number, code: number): void {
    this.#bytes[at] = code;
  }

  /** A part of bytes that were written before. */
  copy(bytes: Uint8Array, from: number, to: number): void {
    this.#makeRoom(to - from);
    (bytes as Buffer).copy(this.#bytes, this.#length, from, to);
    this.#length += to - from;
  }

  /** One character of ASCII, by its number. */
  byte(code: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#length++] = code;
  }

  get contentFrom(): number {
    return this.#contentFrom;
  }

  /** What was written, in memory of its own. */
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
