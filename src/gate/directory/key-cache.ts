import type { CacheStats } from '../../runtime/bounded-cache.ts';
import { KEY_LENGTH } from '../key.ts';

/** A key in memory. */
export interface CachedKey {
  /** Its slot in the cache, which sets it. */
  cacheSlot: number;
}

/** The text of a key, four characters to a word. */
const WORDS = Math.ceil(KEY_LENGTH / 4);

const SLOTS_MIN = 128;
/** At most one of this many slots is in use: then most searches end at the first. */
const SLOTS_PER_KEY = 2;

/**
 * The keys of active customers by their text, bounded by bytes. A `Map` would read a string for each key, which is in four
 * pieces of memory; with thousands of keys, waiting for those takes longer than everything else that is done to admit a
 * request. This is a hash table with open addressing and linear probing:
 *
 *     texts    ├ 12 words ┼ 12 words ┼ …      all 0 in an empty slot
 *     keys     ├ object   ┼ object   ┼ …
 */
export class KeyCache<K extends CachedKey> implements CacheStats {
  readonly bytesMax: number;
  readonly #keyBytes: (key: K) => number;
  readonly #onEvict: (key: K) => void;
  #texts = new Int32Array(SLOTS_MIN * WORDS);
  #keys: (K | undefined)[] = emptySlots(SLOTS_MIN);
  /** The text that is searched for. */
  readonly #sought = new Int32Array(WORDS);
  /** The slot to evict next. The order of slots is that of the hashes, so chance decides which key goes first. */
  #hand = 0;
  #size = 0;
  #bytes = 0;
  #evictions = 0;

  /** `keyBytes` is the memory that a key takes, including its slot. `onEvict` is called for each key that makes room for another. */
  constructor(bytesMax: number, keyBytes: (key: K) => number, onEvict: (key: K) => void) {
    this.bytesMax = bytesMax;
    this.#keyBytes = keyBytes;
    this.#onEvict = onEvict;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#size;
  }

  get evictions(): number {
    return this.#evictions;
  }

  get(text: string): K | undefined {
    return pack(text, this.#sought) ? this.#keys[this.#slotOf(this.#sought)] : undefined;
  }

  /** Adds a key, which must not be in the cache yet. Evicts others as long as there is no room for it: one that is larger than the cache is alone in it. */
  add(text: string, key: K): void {
    const bytes = this.#keyBytes(key);
    while (this.#bytes + bytes > this.bytesMax && this.#size > 0) this.#evictNext();
    if ((this.#size + 1) * SLOTS_PER_KEY > this.#keys.length) this.#grow();
    if (!pack(text, this.#sought)) throw new Error('no key has such a text');
    const slot = this.#slotOf(this.#sought);
    this.#texts.set(this.#sought, slot * WORDS);
    this.#keys[slot] = key;
    key.cacheSlot = slot;
    this.#size++;
    this.#bytes += bytes;
  }

  delete(key: K): void {
    if (this.#keys[key.cacheSlot] !== key) return; // it was evicted
    this.#size--;
    this.#bytes -= this.#keyBytes(key);
    this.#empty(key.cacheSlot);
  }

  clear(): void {
    this.#texts = new Int32Array(SLOTS_MIN * WORDS);
    this.#keys = emptySlots(SLOTS_MIN);
    this.#size = 0;
    this.#bytes = 0;
  }

  /** The slot with this text, or the empty one where its search ends. */
  #slotOf(text: Int32Array): number {
    const last = this.#keys.length - 1;
    let slot = hashOf(text, 0) & last;
    while (this.#texts[slot * WORDS] !== 0 && !this.#hasText(slot, text)) slot = (slot + 1) & last;
    return slot;
  }

  /** Compares all words, even after one differs: the time must not tell how much of a guessed key is right. */
  #hasText(slot: number, text: Int32Array): boolean {
    const texts = this.#texts;
    const from = slot * WORDS;
    let difference = 0;
    for (let i = 0; i < WORDS; i++) difference |= texts[from + i]! ^ text[i]!;
    return difference === 0;
  }

  /** Empties a slot and moves those after it that this would cut off from the slot where their search begins. */
  #empty(slot: number): void {
    const last = this.#keys.length - 1;
    let hole = slot;
    for (let at = (hole + 1) & last; this.#keys[at]; at = (at + 1) & last) {
      const home = hashOf(this.#texts, at * WORDS) & last;
      if (((at - home) & last) < ((at - hole) & last)) continue;
      this.#texts.copyWithin(hole * WORDS, at * WORDS, (at + 1) * WORDS);
      this.#keys[hole] = this.#keys[at];
      this.#keys[hole]!.cacheSlot = hole;
      hole = at;
    }
    this.#texts.fill(0, hole * WORDS, (hole + 1) * WORDS);
    this.#keys[hole] = undefined;
  }

  /** All texts differ, so each is put into the next empty slot. With 65,000 keys it takes some 20 ms. */
  #grow(): void {
    const [texts, keys] = [this.#texts, this.#keys];
    this.#texts = new Int32Array(2 * texts.length);
    this.#keys = emptySlots(2 * keys.length);
    const last = this.#keys.length - 1;
    for (let from = 0; from < keys.length; from++) {
      const key = keys[from];
      if (!key) continue;
      let slot = hashOf(texts, from * WORDS) & last;
      while (this.#keys[slot]) slot = (slot + 1) & last;
      for (let i = 0; i < WORDS; i++) this.#texts[slot * WORDS + i] = texts[from * WORDS + i]!;
      this.#keys[slot] = key;
      key.cacheSlot = slot;
    }
  }

  #evictNext(): void {
    const last = this.#keys.length - 1;
    while (!this.#keys[this.#hand & last]) this.#hand++;
    const key = this.#keys[this.#hand & last]!;
    this.delete(key);
    this.#evictions++;
    this.#onEvict(key);
  }
}

function emptySlots<K>(count: number): (K | undefined)[] {
  return new Array<K | undefined>(count).fill(undefined);
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
