import { type Fault, fault } from '../message/fault.ts';
import type { Framing } from './fields.ts';

/** A size line and its extension, which nobody uses and everybody must be able to skip. */
const SIZE_LINE = /^([0-9A-Fa-f]{1,8})(;[\t\x20-\x7e\x80-\xff]*)?$/;
const LINE_LENGTH_MAX = 1_024;

/** Collects a body from what arrives, piece by piece. */
export class BodyReader {
  #bytesMax: number;
  /** Grows twofold: a piece may be a single byte, and an array for each would be a hundred times the body. */
  #kept = new Uint8Array();
  #isKept = true;
  readonly #isChunked: boolean;
  /** Of the body, or of the chunk that is being read. */
  #left: number;
  #length = 0;
  #step: 'data' | 'data end' | 'size' | 'end' | 'done';
  #line = '';

  constructor(framing: Framing, bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#isChunked = framing.kind === 'chunked';
    this.#left = framing.kind === 'length' ? framing.bytes : 0;
    this.#step = this.#isChunked ? 'size' : 'data';
  }

  /** Whether a body of this size would be taken. */
  get fault(): Fault | undefined {
    return this.#length + this.#left > this.#bytesMax
      ? fault(413, `the body is longer than ${this.#bytesMax} bytes`)
      : undefined;
  }

  /** What is still to come, as far as it is known: of chunks only the one that has begun is. */
  get left(): number {
    return this.#left;
  }

  /** What has come. */
  get length(): number {
    return this.#length;
  }

  get isDone(): boolean {
    return this.#step === 'done';
  }

  get bytes(): Uint8Array {
    return this.#kept.subarray(0, this.#length);
  }

  /** From here on nothing is kept, and only so much more is taken. */
  skip(bytesMax: number): void {
    this.#isKept = false;
    this.#kept = new Uint8Array();
    this.#bytesMax = this.#length + bytesMax;
  }

  /** Takes what belongs to the body, and says how many bytes that were. */
  take(bytes: Uint8Array): number | Fault {
    let at = 0;
    while (at < bytes.length && this.#step !== 'done') {
      const taken = this.#step === 'data' ? this.#takeData(bytes, at) : this.#takeLine(bytes, at);
      if (typeof taken !== 'number') return taken;
      at += taken;
    }
    return at;
  }

  #takeData(bytes: Uint8Array, at: number): number {
    const count = Math.min(this.#left, bytes.length - at);
    if (this.#isKept) this.#keep(bytes.subarray(at, at + count));
    this.#left -= count;
    this.#length += count;
    if (this.#left === 0) this.#step = this.#isChunked ? 'data end' : 'done';
    return count;
  }

  #keep(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#kept.length) {
      const larger = new Uint8Array(Math.max(length, Math.min(2 * this.#kept.length, this.#bytesMax)));
      larger.set(this.bytes);
      this.#kept = larger;
    }
    this.#kept.set(piece, this.#length);
  }

  /** A line may come in pieces too. Only CR LF ends it. */
  #takeLine(bytes: Uint8Array, at: number): number | Fault {
    const end = bytes.indexOf(LF, at);
    const stop = end < 0 ? bytes.length : end + 1;
    this.#line += Buffer.from(bytes.buffer, bytes.byteOffset + at, stop - at).toString('latin1');
    if (this.#line.length > LINE_LENGTH_MAX) return fault(400, 'a line between the chunks is too long');
    if (end < 0) return stop - at;
    if (!this.#line.endsWith('\r\n')) return fault(400, 'a line between the chunks does not end in CR LF');
    const wrong = this.#readLine(this.#line.slice(0, -2));
    this.#line = '';
    return wrong ?? stop - at;
  }

  #readLine(line: string): Fault | undefined {
    if (this.#step === 'data end') {
      this.#step = 'size';
      return line === '' ? undefined : fault(400, 'a chunk is longer than it says');
    }
    if (this.#step === 'end') {
      this.#step = 'done';
      return line === '' ? undefined : fault(400, 'headers after a body are not taken');
    }
    const size = SIZE_LINE.exec(line)?.[1];
    if (size === undefined) return fault(400, 'the size of a chunk is not a number');
    this.#left = Number.parseInt(size, 16);
    this.#step = this.#left === 0 ? 'end' : 'data';
    return this.fault;
  }
}

const LF = 10;
