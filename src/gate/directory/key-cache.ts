import type { CacheStats } from '../../runtime/bounded-cache.ts';
import { KEY_LENGTH } from '../key.ts';

/** A key in memory. */
export interface CachedKey {
  /** The number of its entry in the cache, which sets it. */
  cacheEntry: number;
}

/** The text of a key, four characters to a word. */
const WORDS = Math.ceil(KEY_LENGTH / 4);
/** With four unused words, each text is in one line of the processor's cache. */
const WORDS_PER_TEXT = 16;

const SLOTS_MIN = 128;
/** At most this share of the slots is in use: then most searches end at the first. */
const LOAD_MAX = 0.75;

/** A slot of the index. */
const SLOT_WORDS = 2;
const HASH = 0;
/** The number of the entry plus 1; 0 in an empty slot. */
const ENTRY = 1;

/**
 * The keys of active customers by their text, bounded by bytes. A `Map` would read a string for each key, which is in four
 * pieces of memory; with thousands of keys, waiting for those takes longer than everything else that is done to admit a
 * request. The index is a hash table with open addressing and linear probing:
 *
 *     index    ├ hash, entry ┼ hash, entry ┼ …
 *     texts    ├ 16 words ┼ 16 words ┼ …           by entry
 *     keys     ├ object   ┼ object   ┼ …           by entry
 */
export class KeyCache<K extends CachedKey> implements CacheStats {
  readonly bytesMax: number;
  readonly #keyBytes: (key: K) => number;
  readonly #onEvict: (key: K) => void;
  #index = new Int32Array(SLOTS_MIN * SLOT_WORDS);
  #texts = new Int32Array(SLOTS_MIN * WORDS_PER_TEXT);
  #keys: (K | undefined)[] = [];
  /** Entries whose keys were deleted. */
  #free: number[] = [];
  /** The text that is searched for. */
  readonly #sought = new Int32Array(WORDS);
  /** The slot to evict next. The order of slots is that of the hashes, so chance decides which key goes first. */
  #hand = 0;
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
    const sought = this.#sought;
    if (!pack(text, sought)) return undefined;
    const index = this.#index;
    const last = index.length - SLOT_WORDS;
    const hash = hashOf(sought, 0);
    for (let slot = homeOf(hash, last); ; slot = (slot + SLOT_WORDS) & last) {
      const entry = index[slot + ENTRY]! - 1;
      if (entry < 0) return undefined;
      if (index[slot + HASH] === hash && this.#hasText(entry, sought)) return this.#keys[entry];
    }
  }

  /** Adds a key, which must not be in the cache yet. Evicts others as long as there is no room for it: one that is larger than the cache is alone in it. */
  add(text: string, key: K): void {
    const bytes = this.#keyBytes(key);
    while (this.#bytes + bytes > this.bytesMax && this.size > 0) this.#evictNext();
    if (!pack(text, this.#sought)) throw new Error('no key has such a text');
    const entry = this.#free.pop() ?? this.#keys.length;
    if ((entry + 1) * WORDS_PER_TEXT > this.#texts.length) this.#texts = doubled(this.#texts);
    this.#texts.set(this.#sought, entry * WORDS_PER_TEXT);
    this.#keys[entry] = key;
    key.cacheEntry = entry;
    this.#bytes += bytes;
    if (this.size * SLOT_WORDS > LOAD_MAX * this.#index.length) this.#growIndex();
    this.#insert(hashOf(this.#sought, 0), entry);
  }

  delete(key: K): void {
    const entry = key.cacheEntry;
    if (this.#keys[entry] !== key) return; // it was evicted
    this.#bytes -= this.#keyBytes(key);
    this.#empty(this.#slotOf(entry));
    this.#keys[entry] = undefined;
    this.#free.push(entry);
  }

  clear(): void {
    this.#index = new Int32Array(SLOTS_MIN * SLOT_WORDS);
    this.#texts = new Int32Array(SLOTS_MIN * WORDS_PER_TEXT);
    this.#keys = [];
    this.#free = [];
    this.#hand = 0;
    this.#bytes = 0;
  }

  /** Compares all words, even after one differs: the time must not tell how much of a guessed key is right. */
  #hasText(entry: number, text: Int32Array): boolean {
    const texts = this.#texts;
    const from = entry * WORDS_PER_TEXT;
    let difference = 0;
    for (let i = 0; i < WORDS; i++) difference |= texts[from + i]! ^ text[i]!;
    return difference === 0;
  }

  /** The slot of an entry. */
  #slotOf(entry: number): number {
    const index = this.#index;
    const last = index.length - SLOT_WORDS;
    let slot = homeOf(hashOf(this.#texts, entry * WORDS_PER_TEXT), last);
    while (index[slot + ENTRY] !== entry + 1) slot = (slot + SLOT_WORDS) & last;
    return slot;
  }

  #insert(hash: number, entry: number): void {
    const index = this.#index;
    const last = index.length - SLOT_WORDS;
    let slot = homeOf(hash, last);
    while (index[slot + ENTRY] !== 0) slot = (slot + SLOT_WORDS) & last;
    index[slot + HASH] = hash;
    index[slot + ENTRY] = entry + 1;
  }

  /** Empties a slot and moves those after it that this would cut off from the slot where their search begins. */
  #empty(slot: number): void {
    const index = this.#index;
    const last = index.length - SLOT_WORDS;
    let hole = slot;
    for (let at = (hole + SLOT_WORDS) & last; index[at + ENTRY] !== 0; at = (at + SLOT_WORDS) & last) {
      const home = homeOf(index[at + HASH]!, last);
      if (((at - home) & last) < ((at - hole) & last)) continue;
      index.copyWithin(hole, at, at + SLOT_WORDS);
      hole = at;
    }
    index.fill(0, hole, hole + SLOT_WORDS);
  }

  #growIndex(): void {
    const smaller = this.#index;
    this.#index = new Int32Array(2 * smaller.length);
    for (let slot = 0; slot < smaller.length; slot += SLOT_WORDS)
      if (smaller[slot + ENTRY] !== 0) this.#insert(smaller[slot + HASH]!, smaller[slot + ENTRY]! - 1);
  }

  #evictNext(): void {
    const index = this.#index;
    const last = index.length - SLOT_WORDS;
    while (index[this.#hand + ENTRY] === 0) this.#hand = (this.#hand + SLOT_WORDS) & last;
    const key = this.#keys[index[this.#hand + ENTRY]! - 1]!;
    this.delete(key);
    this.#evictions++;
    this.#onEvict(key);
  }
}

/** The slot where the search for a hash begins, in an index that ends with the slot `last`. */
function homeOf(hash: number, last: number): number {
  return (hash << 1) & last;
}

function doubled(words: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * words.length);
  larger.set(words);
  return larger;
}

/** Packs the characters of a text. Returns false for one that cannot be a key. */
function pack(text: string, words: Int32Array): boolean {
  if (text.length !== KEY_LENGTH) return false;
  let all = 0;
  let word = 0;
  for (let i = 0; i < KEY_LENGTH; i++) {
    const code = text.charCodeAt(i);
    all |= code;
    word |= code << (8 * (i & 3));
    words[i >> 2] = word;
    if ((i & 3) === 3) word = 0;
  }
  return all < 0x80;
}

/** Only keys that exist are stored, and those are random: nobody can make them collide. */
function hashOf(words: Int32Array, from: number): number {
  let hash = 0;
  for (let i = from; i < from + WORDS; i++) {
    hash = Math.imul(hash ^ words[i]!, 0x9e37_79b1);
    hash ^= hash >>> 15;
  }
  return hash;
}
