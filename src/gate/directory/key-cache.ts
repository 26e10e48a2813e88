import type { CacheStats } from '../../runtime/bounded-cache.ts';
import { KEY_LENGTH } from '../key.ts';

/** A key in memory. */
export interface CachedKey {
  /** The number of its entry in the cache, which sets it. */
  cachePlace: number;
}

/** The text of a key, four characters to a word. */
const WORDS = Math.ceil(KEY_LENGTH / 4);

/** The index has this many slots per entry, at least: then most searches end at the first one. */
const SLOTS_PER_ENTRY = 2;
const ENTRIES_MIN = 64;

/** A slot of the index: the hash of a text, and the number of its entry plus 1, or 0 in an empty slot. */
const SLOT_WORDS = 2;
const PLACE = 1;

/**
 * The keys of active customers by their text, bounded by bytes. A `Map` would read a string for each key, which is in four pieces of
 * memory; with thousands of keys, waiting for those takes longer than everything else that is done to admit a request.
 *
 *     index    ├ hash ┼ entry ┤        open addressing with linear probing
 *     texts    ├ 12 words ┼ 12 words ┼ …
 *     keys     ├ object ┼ object ┼ …
 */
export class KeyCache<K extends CachedKey> implements CacheStats {
  readonly bytesMax: number;
  readonly #keyBytes: (key: K) => number;
  readonly #onEvict: (key: K) => void;
  #index = new Int32Array(ENTRIES_MIN * SLOTS_PER_ENTRY * SLOT_WORDS);
  #texts = new Int32Array(ENTRIES_MIN * WORDS);
  #keys: (K | undefined)[] = [];
  /** Entries whose keys were deleted. */
  #free: number[] = [];
  /** The text that is searched for. */
  readonly #sought = new Int32Array(WORDS);
  /** The entry to evict next. */
  #oldest = 0;
  #bytes = 0;
  #evictions = 0;

  /** `keyBytes` is the memory that a key takes, including its entry. `onEvict` is called for each key that makes room for another. */
  constructor(bytesMax: number, keyBytes: (key: K) => number, onEvict: (key: K) => void) {
    this.bytesMax = bytesMax;
    this.#keyBytes = keyBytes;
    this.#onEvict = onEvict;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#keys.length - this.#free.length;
  }

  get evictions(): number {
    return this.#evictions;
  }

  get(text: string): K | undefined {
    const hash = pack(text, this.#sought);
    if (hash < 0) return undefined;
    const index = this.#index;
    const mask = index.length - 1;
    for (let at = homeOf(hash, mask); ; at = (at + SLOT_WORDS) & mask) {
      const place = index[at + PLACE]! - 1;
      if (place < 0) return undefined;
      if (index[at] === hash && this.#isSoughtAt(place)) return this.#keys[place];
    }
  }

  /** Adds a key, which must not be in the cache yet. Evicts those added first, as far as they are in its way. */
  add(text: string, key: K): void {
    const bytes = this.#keyBytes(key);
    while (this.#bytes + bytes > this.bytesMax && this.size > 0) this.#evictOldest();
    const hash = pack(text, this.#sought);
    if (hash < 0) throw new Error('this text cannot be a key'); // no hash in the ledger belongs to it
    const place = this.#free.pop() ?? this.#keys.length;
    if (place === this.#keys.length && this.#isFull) this.#grow();
    this.#texts.set(this.#sought, place * WORDS);
    this.#keys[place] = key;
    key.cachePlace = place;
    insert(this.#index, hash, place);
    this.#bytes += bytes;
  }

  delete(key: K): void {
    const place = key.cachePlace;
    if (this.#keys[place] !== key) return; // it was evicted
    remove(this.#index, this.#hashAt(place), place);
    this.#texts.fill(0, place * WORDS, (place + 1) * WORDS); // no key stays in memory for longer than it is used
    this.#keys[place] = undefined;
    this.#free.push(place);
    this.#bytes -= this.#keyBytes(key);
  }

  clear(): void {
    this.#index.fill(0);
    this.#texts.fill(0);
    this.#keys = [];
    this.#free = [];
    this.#oldest = 0;
    this.#bytes = 0;
  }

  get #isFull(): boolean {
    return this.#keys.length * WORDS === this.#texts.length;
  }

  /** Compares all words, even after one differs: the time must not tell how much of a guessed key is right. */
  #isSoughtAt(place: number): boolean {
    const texts = this.#texts;
    const sought = this.#sought;
    const from = place * WORDS;
    let difference = 0;
    for (let i = 0; i < WORDS; i++) difference |= texts[from + i]! ^ sought[i]!;
    return difference === 0;
  }

  #hashAt(place: number): number {
    return hashOf(this.#texts.subarray(place * WORDS, (place + 1) * WORDS));
  }

  #grow(): void {
    const texts = new Int32Array(2 * this.#texts.length);
    texts.set(this.#texts);
    this.#texts = texts;
    const index = new Int32Array(2 * this.#index.length);
    for (let at = 0; at < this.#index.length; at += SLOT_WORDS) {
      const place = this.#index[at + PLACE]! - 1;
      if (place >= 0) insert(index, this.#index[at]!, place);
    }
    this.#index = index;
  }

  #evictOldest(): void {
    for (;;) {
      const key = this.#keys[this.#oldest];
      this.#oldest = (this.#oldest + 1) % this.#keys.length;
      if (!key) continue;
      this.delete(key);
      this.#evictions++;
      this.#onEvict(key);
      return;
    }
  }
}

/** Packs the characters of a text. Returns its hash, or -1 for a text that cannot be a key. */
function pack(text: string, words: Int32Array): number {
  if (text.length !== KEY_LENGTH) return -1;
  let all = 0;
  let word = 0;
  for (let i = 0; i < KEY_LENGTH; i++) {
    const code = text.charCodeAt(i);
    all |= code;
    word |= code << (8 * (i & 3));
    words[i >> 2] = word;
    if ((i & 3) === 3) word = 0;
  }
  return all < 0x80 ? hashOf(words) : -1;
}

/** A hash of 31 bits. Only keys that exist are stored, and those are random: nobody can make them collide. */
function hashOf(words: Int32Array): number {
  let hash = 0;
  for (let i = 0; i < WORDS; i++) {
    hash = Math.imul(hash ^ words[i]!, 0x9e37_79b1);
    hash ^= hash >>> 15;
  }
  return hash & 0x7fff_ffff;
}

function homeOf(hash: number, mask: number): number {
  return (hash * SLOT_WORDS) & mask;
}

function insert(index: Int32Array, hash: number, place: number): void {
  const mask = index.length - 1;
  let at = homeOf(hash, mask);
  while (index[at + PLACE] !== 0) at = (at + SLOT_WORDS) & mask;
  index[at] = hash;
  index[at + PLACE] = place + 1;
}

/** Empties a slot and moves those after it that this would cut off from their home. */
function remove(index: Int32Array, hash: number, place: number): void {
  const mask = index.length - 1;
  let hole = homeOf(hash, mask);
  while (index[hole + PLACE] !== place + 1) hole = (hole + SLOT_WORDS) & mask;
  for (let at = (hole + SLOT_WORDS) & mask; index[at + PLACE] !== 0; at = (at + SLOT_WORDS) & mask) {
    const home = homeOf(index[at]!, mask);
    const isCutOff = ((at - home) & mask) >= ((at - hole) & mask);
    if (!isCutOff) continue;
    index.copyWithin(hole, at, at + SLOT_WORDS);
    hole = at;
  }
  index.fill(0, hole, hole + SLOT_WORDS);
}
