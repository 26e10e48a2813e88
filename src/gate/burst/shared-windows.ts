/**
 * Rate windows in memory that several processes map:
 *
 *     word   0     1        2       3
 *          ├ tag ┼ opened ┼ count ┼ unused ┤   one slot per key of the last seconds
 *
 * A key's slot is the one with its tag among the 32 that begin at its home position. A slot whose window is long over can
 * be taken by another key. All words are changed atomically. When two processes open a window at the same moment, one event
 * may go uncounted.
 */
export const WORDS_PER_SLOT = 4;
const OPENED = 1;
const COUNT = 2;
const PROBES = 32;

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
    const isOver = age < 0 || age >= windowMs;
    if (isOver && Atomics.compareExchange(words, at + OPENED, opened, now | 0) === opened) {
      Atomics.store(words, at + COUNT, 1);
      return true;
    }
    return Atomics.add(words, at + COUNT, 1) < limit;
  }
}

function assignSlot(words: Int32Array, key: WindowKey, now: number, idleMs: number): void {
  const hash = Bun.hash(key.id) as bigint;
  const home = Number((hash >> 32n) % BigInt(slotsOf(words)));
  key.windowTag = Number(hash & 0xffff_ffffn) | 1; // 0 marks an unused slot
  key.windowAt = findSlot(words, key.windowTag, home, now, idleMs);
}

/** The offset of a tag's slot, which may be taken over from an idle key. */
function findSlot(words: Int32Array, tag: number, home: number, now: number, idleMs: number): number {
  const slots = slotsOf(words);
  for (;;) {
    let free = -1;
    for (let probe = 0; probe < PROBES; probe++) {
      const at = ((home + probe) % slots) * WORDS_PER_SLOT;
      const found = Atomics.load(words, at);
      if (found === tag) return at;
      if (free < 0 && (found === 0 || isIdle(words, at, now, idleMs))) free = at;
    }
    if (free < 0) return home * WORDS_PER_SLOT; // all 32 are busy: it shares a counter and is limited sooner
    const found = Atomics.load(words, free);
    if (Atomics.compareExchange(words, free, found, tag) === found) return free;
  }
}

function isIdle(words: Int32Array, at: number, now: number, idleMs: number): boolean {
  const age = ((now | 0) - Atomics.load(words, at + OPENED)) | 0;
  return age < 0 || age >= idleMs;
}

function slotsOf(words: Int32Array): number {
  return Math.floor(words.length / WORDS_PER_SLOT);
}
