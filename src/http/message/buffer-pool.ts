/** Adds the methods behind `write` and `toString`, which skip their argument checks: those take longer than a short text. */
export interface Bytes extends Buffer<ArrayBuffer> {
  latin1Slice(start: number, end: number): string;
  latin1Write(text: string, offset: number): number;
  utf8Write(text: string, offset: number): number;
}

export function latin1Bytes(text: string): Bytes {
  return Buffer.from(text, 'latin1') as Bytes;
}

/** Uninitialized memory of its own, outside of the pool. */
export function allocate(length: number): Bytes {
  return Buffer.allocUnsafeSlow(length) as Bytes;
}

/**
 * Pooled memory with exactly one owner, for a response that is sent once:
 *
 *     held ──take()──► taken ──release()──► back in the pool, for another response
 *
 * Each arrow can be followed once; any other call throws. So a response cannot be sent twice, and nobody can read
 * through this object what another response has written. An object that is dropped leaves its memory to the garbage
 * collector. Views that the owner made of `memory` are the owner's responsibility: they must not outlive `take`.
 */
export class PooledBuffer {
  #onRelease: (memory: Bytes) => void;
  #memory: Bytes | undefined;
  #start = 0;
  #end: number;
  #isTaken = false;

  constructor(memory: Bytes, onRelease: (memory: Bytes) => void) {
    this.#onRelease = onRelease;
    this.#memory = memory;
    this.#end = memory.length;
  }

  /** The memory, for its owner to fill and read. */
  get memory(): Bytes {
    return this.#held();
  }

  /** Limits what `take` returns to a part of the memory. */
  crop(start: number, end: number): void {
    this.#held();
    this.#start = start;
    this.#end = end;
  }

  /** Returns the bytes to send. The caller owns the memory from now on, and calls `release` when they are sent. */
  take(): Bytes {
    return this.takeWhole().subarray(this.#start, this.#end) as Bytes;
  }

  /** The same without a view, which takes longer to make than to send: the bytes are those from `start` to `end`. */
  takeWhole(): Bytes {
    const memory = this.#held();
    this.#isTaken = true;
    return memory;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  /** Also calls `listener` when the memory is released: the response is sent, or its client has disconnected. */
  whenReleased(listener: () => void): void {
    const onRelease = this.#onRelease;
    this.#onRelease = (memory) => {
      onRelease(memory);
      listener();
    };
  }

  /** Returns the memory to the pool. The caller must have dropped the bytes that it took. */
  release(): void {
    const memory = this.#memory;
    if (!this.#isTaken || !memory) throw new Error('a pooled buffer was released without being taken');
    this.#memory = undefined;
    this.#onRelease(memory);
  }

  #held(): Bytes {
    if (this.#isTaken || !this.#memory) throw new Error('a pooled buffer was used after it was taken');
    return this.#memory;
  }
}

/** The overhead of an idle buffer in addition to its bytes, measured. */
const BUFFER_BYTES = 256;

const LENGTH_STEP = 1_024;

/** Lengths with a list of idle buffers. An empty list takes memory too. */
const LENGTHS_MAX = 4_096;

/** Holds the responses of most batches. The service sets its own limit. */
const BYTES_MAX_DEFAULT = 4 * 1024 * 1024;

/**
 * Reuses the memory of sent responses. Memory that is allocated for each response is neither in the CPU's caches nor,
 * mostly, mapped: the allocator returns unused memory to the system.
 */
export class BufferPool {
  readonly #idleByLength = new Map<number, Bytes[]>();
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

  /** A buffer with arbitrary content, owned by the caller. */
  acquire(length: number): PooledBuffer {
    const idle = this.#idleByLength.get(length)?.pop();
    if (!idle) return new PooledBuffer(allocate(length), this.#add);
    this.#bytes -= length + BUFFER_BYTES;
    this.#size--;
    return new PooledBuffer(idle, this.#add);
  }

  /** The same with its length rounded up, so that responses of about the same length reuse the same memory. */
  acquireRounded(length: number): PooledBuffer {
    const buffer = this.acquire(Math.ceil(length / LENGTH_STEP) * LENGTH_STEP);
    buffer.crop(0, length);
    return buffer;
  }

  /** Makes memory of another origin poolable. The caller must hold the only reference to it. */
  adopt(memory: Bytes): PooledBuffer {
    return new PooledBuffer(memory, this.#add);
  }

  readonly #add = (memory: Bytes): void => {
    const bytes = memory.length + BUFFER_BYTES;
    if (bytes > this.#bytesMax) return;
    if (this.#bytes + bytes > this.#bytesMax) this.#clear(); // the lengths in demand have changed
    this.#bytes += bytes;
    this.#size++;
    const idle = this.#idleByLength.get(memory.length);
    if (idle) idle.push(memory);
    else this.#addLength(memory);
  };

  #addLength(memory: Bytes): void {
    if (this.#idleByLength.size >= LENGTHS_MAX) {
      for (const [length, idle] of this.#idleByLength)
        if (idle.length === 0) this.#idleByLength.delete(length);
    }
    this.#idleByLength.set(memory.length, [memory]);
  }

  #clear(): void {
    this.#evictions += this.#size;
    this.#idleByLength.clear();
    this.#bytes = 0;
    this.#size = 0;
  }
}

/** The idle buffers of this thread. */
export const bufferPool = new BufferPool();
