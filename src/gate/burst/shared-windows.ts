/**
 * Rate windows in memory that several processes map:
 *
 *     word   0     1        2       3
 *          ├ tag ┼ opened ┼ count ┼ unused ┤   one slot per key of the last seconds
 *
 * A key's slot is the one with its tag among the 32 that begin at its home position in one of the regions. A slot whose
 * window is long over can be taken by another key. All words are changed atomically. When two processes open a window at the
 * same moment, one event may go uncounted.
 */
const WORDS_PER_SLOT = 4;
const OPENED = 1;
const COUNT = 2;
const PROBES = 32;

/**
 * The slots of each region. A key has a slot in the first one that has room for it, so that the slots of ten thousand keys
 * fit into the processor's cache. In total they are enough for 100,000 keys within the same few seconds: more would share
 * slots.
 */
const REGIONS = [16_384, 49_152, 196_608];
export const WINDOW_WORDS = REGIONS.reduce((sum, slots) => sum + slots, 0) * WORDS_PER_SLOT;

/** A key whose events are counted. It remembers its slot itself: another object per key would be another wait for memory. */
export interface WindowKey {
  readonly id: string;
  /** Derived from the id; 0 before its first event. */
  windowTag: number;
  /** Where its slot was when it was last used. */
  windowAt: number;
}

export class SharedWindows {
  readonly #words: Int32Array;

  constructor(words: Int32Array) {
    this.#words = words;
  }

  /** Counts one event if the limit allows it. The window opens with its first event. Times are in ms, modulo 2³². */
  take(key: WindowKey, now: number, limit: number, windowMs: number): boolean {
    const words = this.#words;
    if (key.windowTag === 0 || Atomics.load(words, key.windowAt) !== key.windowTag)
      assignSlot(words, key, now, 2 * windowMs);
    const at = key.windowAt;
    const opened = Atomics.load(words, at + OPENED);
    const age = ((now | 0) - opened) | 0;
    // Another process may have read the clock later and opened the window first: then the age is a little below 0.
    const isOver = Math.abs(age) >= windowMs;
    if (isOver && Atomics.compareExchange(words, at + OPENED, opened, now | 0) === opened) {
      Atomics.store(words, at + COUNT, 1);
      return true;
    }
    return Atomics.add(words, at + COUNT, 1) < limit;
  }
}

function assignSlot(words: Int32Array, key: WindowKey, now: number, idleMs: number): void {
  const hash = Bun.hash(key.id) as bigint;
  key.windowTag = Number(hash & 0xffff_ffffn) | 1; // 0 marks an unused slot
  key.windowAt = findSlot(words, key.windowTag, Number(hash >> 32n), now, idleMs);
}

/** The offset of a tag's slot, which may be taken over from an idle key. */
function findSlot(words: Int32Array, tag: number, hash: number, now: number, idleMs: number): number {
  for (;;) {
    let free = -1;
    let start = 0;
    for (const slots of REGIONS) {
      for (let probe = 0; probe < PROBES; probe++) {
        const at = (start + ((hash + probe) % slots)) * WORDS_PER_SLOT;
        const found = Atomics.load(words, at);
        if (found === tag) return at;
        if (free < 0 && (found === 0 || isIdle(words, at, now, idleMs))) free = at;
      }
      start += slots;
    }
    if (free < 0) return (hash % REGIONS[0]!) * WORDS_PER_SLOT; // all are busy: it shares a counter and is limited sooner
    const found = Atomics.load(words, free);
    if (Atomics.compareExchange(words, free, found, tag) === found) return free;
  }
}

function isIdle(words: Int32Array, at: number, now: number, idleMs: number): boolean {
  const age = ((now | 0) - Atomics.load(words, at + OPENED)) | 0;
  return Math.abs(age) >= idleMs;
}
