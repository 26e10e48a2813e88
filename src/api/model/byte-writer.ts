import { allocate, type Bytes, bufferPool, type PooledBuffer } from '../../http/message/buffer-pool.ts';

/** ASCII codes for `byte`. */
export const [OPEN, COMMA, CLOSE] = [0x7b, 0x2c, 0x7d];

/** How many bytes a packet reserves for the response head, in front of the body. Most heads fit. */
export const HEAD_ROOM = 1_024;

/** A body in a pooled buffer, after `HEAD_ROOM` bytes for a head. */
export interface UnsentBody {
  packet: PooledBuffer;
  length: number;
}

/**
 * Writes one body piece by piece, as bytes, into the buffer that is sent. Concatenating long strings and encoding them takes
 * three times as long.
 */
export class ByteWriter {
  #packet: PooledBuffer;
  #memory: Bytes;
  #end = HEAD_ROOM;

  /** `expectedLength` avoids copies while it grows. */
  constructor(expectedLength = 0) {
    this.#packet = acquirePacket(expectedLength);
    this.#memory = this.#packet.memory;
  }

  get length(): number {
    return this.#end - HEAD_ROOM;
  }

  text(text: string): void {
    this.#makeRoom(text.length * 3);
    this.#end += this.#memory.utf8Write(text, this.#end);
  }

  /** Faster than `text`, for ASCII only. */
  ascii(text: string): void {
    this.#makeRoom(text.length);
    this.#end += this.#memory.latin1Write(text, this.#end);
  }

  /** Replaces one ASCII character. */
  overwrite(at: number, code: number): void {
    this.#memory[HEAD_ROOM + at] = code;
  }

  /** Appends a part of `bytes`. */
  copy(bytes: Uint8Array, from: number, to: number): void {
    this.#makeRoom(to - from);
    (bytes as Buffer).copy(this.#memory, this.#end, from, to);
    this.#end += to - from;
  }

  /** Appends one ASCII character. */
  byte(code: number): void {
    this.#makeRoom(1);
    this.#memory[this.#end++] = code;
  }

  /** What was written. The writer must not be used any more. */
  finish(): UnsentBody {
    return { packet: this.#packet, length: this.length };
  }

  /** A copy of what was written. The writer must not be used any more. */
  finishAsBytes(): Bytes {
    const bytes = allocate(this.length);
    this.#memory.copy(bytes, 0, HEAD_ROOM, this.#end);
    giveBack(this.#packet);
    return bytes;
  }

  #makeRoom(count: number): void {
    if (this.#end + count <= this.#memory.length) return;
    const larger = acquirePacket(Math.max(2 * this.length, this.length + count));
    this.#memory.copy(larger.memory, HEAD_ROOM, HEAD_ROOM, this.#end);
    giveBack(this.#packet);
    this.#packet = larger;
    this.#memory = larger.memory;
  }
}

/** Encodes a body that is one text. */
export function encodeText(text: string): UnsentBody {
  const length = Buffer.byteLength(text);
  const packet = acquirePacket(length);
  if (length === text.length) packet.memory.latin1Write(text, HEAD_ROOM);
  else packet.memory.utf8Write(text, HEAD_ROOM);
  return { packet, length };
}

/** Adds members, each with a leading comma, to a body that is a JSON object. */
export function addMembers({ packet, length }: UnsentBody, members: string): UnsentBody {
  const writer = new ByteWriter(length + members.length * 3);
  writer.copy(packet.memory, HEAD_ROOM, HEAD_ROOM + length - 1);
  giveBack(packet);
  writer.text(`${members}}`);
  return writer.finish();
}

function acquirePacket(bodyLength: number): PooledBuffer {
  return bufferPool.acquireRounded(HEAD_ROOM + bodyLength);
}

function giveBack(packet: PooledBuffer): void {
  packet.takeWhole();
  packet.release();
}
