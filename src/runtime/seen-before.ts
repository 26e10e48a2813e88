/** One slot for each hash; two texts that share a slot replace each other. A power of two. */
const SLOTS = 65_536;

/**
 * Tells whether a text came before, lately. It can be wrong both ways, which costs a little time and nothing else. It holds hashes,
 * never the texts.
 */
export class SeenBefore {
  readonly #hashes = new Uint32Array(SLOTS);

  /** What it takes in memory, whatever it has seen. */
  get bytes(): number {
    return this.#hashes.byteLength;
  }

  /** Also remembers the text. */
  has(text: string): boolean {
    const hash = Bun.hash.xxHash32(text);
    const slot = hash & (SLOTS - 1);
    const isKnown = this.#hashes[slot] === hash;
    this.#hashes[slot] = hash;
    return isKnown;
  }
}
