/** A power of two. Two texts that share a slot replace each other. */
const SLOTS = 65_536;

/** A text is remembered for one to two of these. */
const WINDOW_MS = 500;

/**
 * Tells whether a text was seen within the last second. It stores hashes instead of texts, so it may err both ways, which
 * only costs a little time.
 */
export class SeenBefore {
  readonly #hashes = new Uint32Array(SLOTS);
  /** When each was seen, as the number of a window, modulo 256. */
  readonly #windows = new Uint8Array(SLOTS);

  /** Its constant memory use. */
  get bytes(): number {
    return this.#hashes.byteLength + this.#windows.byteLength;
  }

  /** Whether the text was seen within the last second. Also records it. */
  has(text: string): boolean {
    const hash = Bun.hash.xxHash32(text);
    const slot = hash & (SLOTS - 1);
    const window = Math.floor(performance.now() / WINDOW_MS) & 0xff;
    const age = (window - this.#windows[slot]!) & 0xff;
    const isKnown = this.#hashes[slot] === hash && age <= 1;
    this.#hashes[slot] = hash;
    this.#windows[slot] = window;
    return isKnown;
  }

  clear(): void {
    this.#hashes.fill(0);
  }
}
