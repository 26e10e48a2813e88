/** The two that `write` leads to after it has looked at its arguments, which takes longer than writing; types leave them out. */
export interface Bytes extends Buffer<ArrayBuffer> {
  latin1Write(text: string, offset: number): number;
  utf8Write(text: string, offset: number): number;
}

/** Memory of its own, with anything in it. */
export function bytesFor(length: number): Bytes {
  return Buffer.allocUnsafeSlow(length) as Bytes;
}

/** What a buffer takes beside its bytes, measured. */
const BUFFER_BYTES = 256;

/** Lengths for which buffers were given back; an empty list of them takes memory too. */
const LENGTHS_MAX = 4_096;

/** A turn's responses mostly fit into it. Until the service sets its own limit. */
const BYTES_MAX_DEFAULT = 4 * 1024 * 1024;

/**
 * Buffers for what is sent once, used again afterwards: memory that is allocated for each response is neither in the processor's
 * caches nor, mostly, in the process, which gives unused memory back to the system.
 */
class BufferPool {
  /** By their length. */
  readonly #spares = new Map<number, Bytes[]>();
  #bytes = 0;
  #size = 0;
  #bytesMax = BYTES_MAX_DEFAULT;
  #evictions = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get bytesMax(): number {
    return this.#bytesMax;
  }

  get size(): number {
    return this.#size;
  }

  get evictions(): number {
    return this.#evictions;
  }

  limitTo(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    if (this.#bytes > bytesMax) this.#clear();
  }

  take(length: number): Bytes {
    const spare = this.#spares.get(length)?.pop();
    if (!spare) return bytesFor(length);
    this.#bytes -= length + BUFFER_BYTES;
    this.#size--;
    return spare;
  }

  giveBack(buffer: Bytes): void {
    const own = buffer.length + BUFFER_BYTES;
    if (own > this.#bytesMax) return;
    if (this.#bytes + own > this.#bytesMax) this.#clear(); // other lengths are in use now
    this.#bytes += own;
    this.#size++;
    const alike = this.#spares.get(buffer.length);
    if (alike) alike.push(buffer);
    else this.#add(buffer);
  }

  #add(buffer: Bytes): void {
    if (this.#spares.size >= LENGTHS_MAX) {
      for (const [length, spares] of this.#spares) if (spares.length === 0) this.#spares.delete(length);
    }
    this.#spares.set(buffer.length, [buffer]);
  }

  #clear(): void {
    this.#evictions += this.#size;
    this.#spares.clear();
    this.#bytes = 0;
    this.#size = 0;
  }
}

/** All idle buffers of the process. */
export const bufferPool = new BufferPool();

/** A buffer with anything in it, to be given back once it is sent. */
export function borrow(length: number): Bytes {
  return bufferPool.take(length);
}

/** The caller must hold the last reference; if unsure, leave it to the garbage collector. */
export function giveBack(memory: Bytes): void {
  bufferPool.giveBack(memory);
}
