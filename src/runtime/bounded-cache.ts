import { SeenBefore, type SeenBeforeOptions } from './seen-before.ts';

/** Overhead of an entry in addition to its key and value, measured on Bun 1.4: slots in two maps that double when full. */
const ENTRY_BYTES = 160;

/** Overhead of a string in addition to its characters: its cell and its buffer's header. */
const STRING_BYTES = 48;

export interface CacheOptions<V> {
  bytesMax: number;
  /**
   * Whether `admits` rejects a key on its first use. Keys that are used once would evict the ones used often, and fill the
   * memory with entries that are never read. Uses are remembered for a second, or as the options say.
   */
  admitsOnSecondUse?: boolean | SeenBeforeOptions;
  /** Called for each entry that is evicted to make room. */
  onEvict?(value: V): void;
}

/** What `/metrics` reports about a cache. */
export interface CacheStats {
  readonly bytes: number;
  readonly bytesMax: number;
  readonly size: number;
  readonly evictions: number;
}

/**
 * A FIFO cache bounded by bytes. The caller states the size of each value, including everything that only the value keeps
 * alive; the bytes of string keys are added. A slice of a longer string keeps the longer one in memory: `copyText` it first.
 */
export class BoundedCache<K, V> implements CacheStats {
  readonly #values = new Map<K, V>();
  /** The bytes of each value. A lookup does not read them. */
  readonly #sizes = new Map<K, number>();
  /** Continues at the oldest entry. A new iterator would first pass the slots of entries evicted since the map was last rebuilt. */
  #oldest: MapIterator<[K, V]> | undefined;
  readonly #seen: SeenBefore | undefined;
  readonly #onEvict: ((value: V) => void) | undefined;
  /** Memory that is used even when the cache is empty. */
  readonly #bytesFixed: number;
  #bytes: number;
  #bytesMax: number;
  #evictions = 0;

  constructor({ bytesMax, admitsOnSecondUse = false, onEvict }: CacheOptions<V>) {
    this.#seen = admitsOnSecondUse
      ? new SeenBefore(admitsOnSecondUse === true ? undefined : admitsOnSecondUse)
      : undefined;
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
    return this.#values.size;
  }

  get evictions(): number {
    return this.#evictions;
  }

  /** Whether the next entry may evict another. */
  get isNearlyFull(): boolean {
    return this.#bytes >= 0.98 * this.#bytesMax;
  }

  get(key: K): V | undefined {
    return this.#values.get(key);
  }

  has(key: K): boolean {
    return this.#values.has(key);
  }

  values(): Iterable<V> {
    return this.#values.values();
  }

  /** Whether `key` should be cached: it is already, or was used recently. Also records this use. */
  admits(key: K & string): boolean {
    return this.#seen === undefined || this.#values.has(key) || this.#seen.has(key);
  }

  /** Stores a value of `bytes` bytes, replacing any earlier one. Returns false when it is larger than the whole cache. */
  set(key: K, value: V, bytes: number): boolean {
    const own = bytes + overheadOf(key);
    if (own + this.#bytesFixed > this.#bytesMax) {
      this.delete(key);
      return false;
    }
    this.#bytes += own - this.#bytesOf(key);
    this.#values.set(key, value);
    this.#sizes.set(key, bytes);
    if (this.#bytes <= this.#bytesMax) return true;
    this.#makeRoom();
    return this.#values.has(key);
  }

  /** Adds `bytes` to the size of an entry that has grown. The entry itself may be evicted. */
  grow(key: K, bytes: number): void {
    const before = this.#sizes.get(key);
    if (before === undefined) return;
    this.#sizes.set(key, before + bytes);
    this.#bytes += bytes;
    this.#makeRoom();
  }

  delete(key: K): void {
    if (!this.#values.has(key)) return;
    this.#remove(key);
    this.#oldest = undefined; // it would keep every table that the map has had since
  }

  #remove(key: K): void {
    this.#bytes -= this.#bytesOf(key);
    this.#values.delete(key);
    this.#sizes.delete(key);
  }

  /** Removes all entries, and forgets which keys were used. */
  clear(): void {
    this.#values.clear();
    this.#oldest = undefined;
    this.#sizes.clear();
    this.#seen?.clear();
    this.#bytes = this.#bytesFixed;
  }

  limitTo(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#makeRoom();
  }

  evictOldest(): void {
    this.#oldest ??= this.#values.entries();
    const { done, value: entry } = this.#oldest.next();
    if (done) {
      this.#oldest = undefined; // it would not return entries that are added later
      return;
    }
    const [key, value] = entry;
    this.#remove(key);
    this.#evictions++;
    this.#onEvict?.(value);
  }

  /** The bytes of an entry; 0 if there is none. */
  #bytesOf(key: K): number {
    const bytes = this.#sizes.get(key);
    return bytes === undefined ? 0 : bytes + overheadOf(key);
  }

  #makeRoom(): void {
    while (this.#bytes > this.#bytesMax && this.#values.size > 0) this.evictOldest();
  }
}

function overheadOf(key: unknown): number {
  return ENTRY_BYTES + (typeof key === 'string' ? textBytes(key) : 0);
}

/** The memory of a text: one byte per character, or two if any of them is outside of Latin-1. */
export function textBytes(text: string): number {
  const wide = /[^\0-\xff]/.test(text) ? 2 : 1;
  return STRING_BYTES + wide * text.length;
}

/** A copy of a text that shares no memory with the string it was sliced from. */
export function copyText(text: string): string {
  const encoding = text.isWellFormed() ? 'utf8' : 'utf16le';
  return Buffer.from(text, encoding).toString(encoding);
}
