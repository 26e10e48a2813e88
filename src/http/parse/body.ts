import { type Fault, fault } from '../message/fault.ts';
import type { Framing } from './fields.ts';

/** The size line of a chunk, with its extension, which is ignored. */
const SIZE_LINE = /^([0-9A-Fa-f]{1,8})(;[\t\x20-\x7e\x80-\xff]*)?$/;
const LINE_LENGTH_MAX = 1_024;

/** Collects a body as it arrives. */
export class BodyParser {
  #bytesMax: number;
  /** Grows by doubling: a piece may be a single byte, and an array of pieces would take a hundred times the memory. */
  #collected = new Uint8Array();
  #isSkipped = false;
  readonly #isChunked: boolean;
  /** Bytes of the body, or of the current chunk, that have not arrived. */
  #remaining: number;
  #length = 0;
  #expects: 'data' | 'end of chunk' | 'size' | 'end of body' | 'nothing';
  #line = '';

  constructor(framing: Framing, bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#isChunked = framing.kind === 'chunked';
    this.#remaining = framing.kind === 'length' ? framing.bytes : 0;
    this.#expects = this.#isChunked ? 'size' : 'data';
  }

  /** Set if the body is known to be too long. */
  get fault(): Fault | undefined {
    return this.#length + this.#remaining > this.#bytesMax
      ? fault(413, `the body is longer than ${this.#bytesMax} bytes`)
      : undefined;
  }

  /** Bytes that have not arrived, as far as known: only the current chunk counts. */
  get remaining(): number {
    return this.#remaining;
  }

  /** Bytes that have arrived. */
  get length(): number {
    return this.#length;
  }

  get isComplete(): boolean {
    return this.#expects === 'nothing';
  }

  get bytes(): Uint8Array {
    return this.#collected.subarray(0, this.#length);
  }

  /** Collects nothing from now on, and accepts at most `bytesMax` more. */
  skip(bytesMax: number): void {
    this.#isSkipped = true;
    this.#collected = new Uint8Array();
    this.#bytesMax = this.#length + bytesMax;
  }

  /** Consumes the bytes that belong to the body, and returns their number. */
  take(bytes: Uint8Array): number | Fault {
    let at = 0;
    while (at < bytes.length && this.#expects !== 'nothing') {
      const taken = this.#expects === 'data' ? this.#takeData(bytes, at) : this.#takeLine(bytes, at);
      if (typeof taken !== 'number') return taken;
      at += taken;
    }
    return at;
  }

  #takeData(bytes: Uint8Array, at: number): number {
    const count = Math.min(this.#remaining, bytes.length - at);
    if (!this.#isSkipped) this.#collect(bytes.subarray(at, at + count));
    this.#remaining -= count;
    this.#length += count;
    if (this.#remaining === 0) this.#expects = this.#isChunked ? 'end of chunk' : 'nothing';
    return count;
  }

  #collect(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#collected.length) {
      const larger = new Uint8Array(Math.max(length, Math.min(2 * this.#collected.length, this.#bytesMax)));
      larger.set(this.bytes);
      this.#collected = larger;
    }
    this.#collected.set(piece, this.#length);
  }

  /** A line may arrive in pieces too. Only CR LF ends it. */
  #takeLine(bytes: Uint8Array, at: number): number | Fault {
    const end = bytes.indexOf(LF, at);
    const stop = end < 0 ? bytes.length : end + 1;
    this.#line += Buffer.from(bytes.buffer, bytes.byteOffset + at, stop - at).toString('latin1');
    if (this.#line.length > LINE_LENGTH_MAX) return fault(400, 'a line between the chunks is too long');
    if (end < 0) return stop - at;
    if (!this.#line.endsWith('\r\n')) return fault(400, 'a line between the chunks does not end in CR LF');
    const invalid = this.#parseLine(this.#line.slice(0, -2));
    this.#line = '';
    return invalid ?? stop - at;
  }

  #parseLine(line: string): Fault | undefined {
    if (this.#expects === 'end of chunk') {
      this.#expects = 'size';
      return line === '' ? undefined : fault(400, 'a chunk is longer than its size');
    }
    if (this.#expects === 'end of body') {
      this.#expects = 'nothing';
      return line === '' ? undefined : fault(400, 'trailers are not supported');
    }
    const size = SIZE_LINE.exec(line)?.[1];
    if (size === undefined) return fault(400, 'the size of a chunk is not a number');
    this.#remaining = Number.parseInt(size, 16);
    this.#expects = this.#remaining === 0 ? 'end of body' : 'data';
    return this.fault;
  }
}

const LF = 10;
