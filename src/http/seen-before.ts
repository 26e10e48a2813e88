/** One place for each of so many texts; two that share a place take turns. A power of two. */
const PLACES = 65_536;

/**
 * Tells whether a text came before, lately. What comes once is not worth keeping: it would push out what comes often, and
 * fill the memory with what is never asked for again. It may be wrong in both directions, which costs a little time.
 */
export class SeenBefore {
  readonly #hashes = new Uint32Array(PLACES);

  /** Also remembers it. */
  has(text: string): boolean {
    const hash = Bun.hash.xxHash32(text);
    const place = hash & (PLACES - 1);
    const isKnown = this.#hashes[place] === hash;
    this.#hashes[place] = hash;
    return isKnown;
  }
}
