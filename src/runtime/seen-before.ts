export interface SeenBeforeOptions {
  /** A power of two. A text has a choice of two slots: with one, texts that share it would replace each other forever. */
  slots: number;
  /** A text is remembered for at least half of this time, and at most for all of it. */
  rememberedMs: number;
}

const DEFAULTS: SeenBeforeOptions = { slots: 65_536, rememberedMs: 1_000 };

/**
 * Tells whether a text was seen recently. It stores hashes instead of texts, so it may err both ways, which only costs a
 * little time.
 */
export class SeenBefore {
  readonly #hashes: Uint32Array;
  /** When each was seen, as the number of a window, modulo 256. */
  readonly #windows: Uint8Array;
  readonly #windowMs: number;

  constructor({ slots, rememberedMs }: SeenBeforeOptions = DEFAULTS) {
    this.#hashes = new Uint32Array(slots);
    this.#windows = new Uint8Array(slots);
    this.#windowMs = rememberedMs / 2;
  }

  /** Its constant memory use. */
  get bytes(): number {
    return this.#hashes.byteLength + this.#windows.byteLength;
  }

  /** Whether the text was seen recently. Also records it. */
  has(text: string): boolean {
    const hash = Bun.hash.xxHash32(text);
    const window = Math.floor(performance.now() / this.#windowMs) & 0xff;
    const slot = this.#slotOf(hash, window);
    const isKnown = this.#hashes[slot] === hash && this.#age(slot, window) <= 1;
    this.#hashes[slot] = hash;
    this.#windows[slot] = window;
    return isKnown;
  }

  /** The slot of a hash, or the one of its two slots that was used longer ago. */
  #slotOf(hash: number, window: number): number {
    const first = hash & (this.#hashes.length - 2);
    if (this.#hashes[first] === hash || this.#hashes[first] === 0) return first;
    if (this.#hashes[first + 1] === hash) return first + 1;
    return this.#age(first, window) > this.#age(first + 1, window) ? first : first + 1;
  }

  #age(slot: number, window: number): number {
    return (window - this.#windows[slot]!) & 0xff;
  }

  clear(): void {
    this.#hashes.fill(0);
  }
}
