import { SeenBefore } from './seen-before.ts';

/** What an entry takes beside its key and value, measured on Bun 1.4: an object, and its place in a map that doubles when it is full. */
const ENTRY_BYTES = 160;

/** What a string takes beside its characters: its cell and its buffer's header. */
const STRING_BYTES = 48;

export interface CacheOptions<V> {
  bytesMax: number;
  /**
   * Whether `offer` takes a key only when it came before, lately. What comes once is not worth keeping: it would evict what comes
   * often, and fill the memory with what is never asked for again.
   */
  admitsOnSecondUse?: boolean;
  /** Called for each entry that has to go to make room. */
  onEvict?(value: V): void;
}

/** What is told about a cache in `/metrics`. */
export interface CacheStats {
  readonly bytes: number;
  readonly bytesMax: number;
  readonly size: number;
  readonly evictions: number;
}

interface Entry<V> {
  readonly value: V;
  bytes: number;
}

/**
 * A cache bounded by bytes, first in, first out. The caller tells the size of a value, with everything it alone keeps alive; keys that
 * are strings count too. A string that was cut from a longer one keeps the longer one in memory: copy it (`copyText`) first.
 */
export class BoundedCache<K, V> implements CacheStats {
  readonly #entries = new Map<K, Entry<V>>();
  readonly #seen: SeenBefore | undefined;
  readonly #onEvict: ((value: V) => void) | undefined;
  readonly #bytesFixed: number;
  #bytes: number;
  #bytesMax: number;
  #evictions = 0;

  constructor({ bytesMax, admitsOnSecondUse = false, onEvict }: CacheOptions<V>) {
    this.#seen = admitsOnSecondUse ? new SeenBefore() : undefined;
    this.#onEvict = onEvict;
    this.#bytesFixed = this.#seen?.bytes ?? 0;
    this.#bytes = this.#bytesFixed;
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get bytesMax(): number {
    return this.#bytesMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  get evictions(): number {
    return this.#evictions;
  }

  /** Whether the next entry may evict another. */
  get isNearlyFull(): boolean {
    return this.#bytes >= 0.98 * this.#bytesMax;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  values(): Iterable<V> {
    return this.#entries.values().map(({ value }) => value);
  }

  /** Whether `key` is worth keeping: it is here, or came before. Also remembers it. */
  admits(key: K & string): boolean {
    return this.#seen === undefined || this.#entries.has(key) || this.#seen.has(key);
  }

  /** Keeps a value of so many bytes, in place of one that is there. False when it is larger than the whole cache. */
  set(key: K, value: V, bytes: number): boolean {
    const own = bytes + ENTRY_BYTES + (typeof key === 'string' ? textBytes(key) : 0);
    const before = this.#entries.get(key);
    if (before) this.#bytes -= before.bytes;
    if (own + this.#bytesFixed > this.#bytesMax) {
      this.#entries.delete(key);
      return false;
    }
    this.#entries.set(key, { value, bytes: own });
    this.#bytes += own;
    this.#makeRoom();
    return this.#entries.has(key);
  }

  /** Counts so many bytes more for an entry that has grown. It may be evicted for that. */
  grow(key: K, bytes: number): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    entry.bytes += bytes;
    this.#bytes += bytes;
    this.#makeRoom();
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = this.#bytesFixed;
  }

  /** Changes the limit. */
  limitTo(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#makeRoom();
  }

  evictOldest(): void {
    const oldest = this.#entries.entries().next().value;
    if (!oldest) return;
    const [key, entry] = oldest;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    this.#evictions++;
    this.#onEvict?.(entry.value);
  }

  #makeRoom(): void {
    while (this.#bytes > this.#bytesMax && this.#entries.size > 0) this.evictOldest();
  }
}

/** What a text takes in memory: one byte a character, or two where one of them does not fit into Latin-1. */
export function textBytes(text: string): number {
  const wide = /[^\0-\xff]/.test(text) ? 2 : 1;
  return STRING_BYTES + wide * text.length;
}

/** The same text in memory of its own. */
export function copyText(text: string): string {
  const encoding = text.isWellFormed() ? 'utf8' : 'utf16le';
  return Buffer.from(text, encoding).toString(encoding);
}
