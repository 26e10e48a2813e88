/** A power of two. Two texts that share a slot replace each other. */
const SLOTS = 65_536;

/**
 * Tells whether a text was seen recently. It stores hashes instead of texts, so it may err both ways, which only costs a
 * little time.
 */
export class SeenBefore {
  readonly #hashes = new Uint32Array(SLOTS);

  /** Its constant memory use. */
  get bytes(): number {
    return this.#hashes.byteLength;
  }

  /** Whether the text was seen recently. Also records it. */
  has(text: string): boolean {
    const hash = Bun.hash.xxHash32(text);
    const slot = hash & (SLOTS - 1);
    const isKnown = this.#hashes[slot] === hash;
    this.#hashes[slot] = hash;
    return isKnown;
  }

  clear(): void {
    this.#hashes.fill(0);
  }
}
