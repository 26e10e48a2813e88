/**
 * Rate windows in memory that several processes map:
 *
 *     word   0     1        2       3
 *          ├ tag ┼ opened ┼ count ┼ unused ┤   one slot per key of the last seconds
 *
 * A key's slot is the one with its tag among the 16 that begin at its home position. A slot whose window is long over can
 * be taken by another key. All words are changed atomically. When two processes open a window at the same moment, one event
 * may go uncounted.
 */
export const WORDS_PER_SLOT = 4;
const OPENED = 1;
const COUNT = 2;
const PROBES = 16;

export class SharedWindows {
  readonly #words: Int32Array;

  constructor(words: Int32Array) {
    this.#words = words;
  }

  /** A key's window, shared by every process that maps the memory. */
  window(key: string): SharedWindow {
    const hash = Bun.hash(key) as bigint;
    const tag = Number(hash & 0xffff_ffffn) | 1; // 0 marks an unused slot
    const home = Number((hash >> 32n) % BigInt(slotsOf(this.#words)));
    return new SharedWindow(this.#words, tag, home);
  }
}

export class SharedWindow {
  readonly #words: Int32Array;
  readonly #tag: number;
  readonly #home: number;
  #at = -1;

  constructor(words: Int32Array, tag: number, home: number) {
    this.#words = words;
    this.#tag = tag;
    this.#home = home;
  }

  /** Counts one event if the limit allows it. The window opens with its first event. Times are in ms, modulo 2³². */
  take(now: number, limit: number, windowMs: number): boolean {
    const words = this.#words;
    if (this.#at < 0 || Atomics.load(words, this.#at) !== this.#tag) {
      this.#at = findSlot(words, this.#tag, this.#home, now, 2 * windowMs);
    }
    const opened = Atomics.load(words, this.#at + OPENED);
    const age = ((now | 0) - opened) | 0;
    const isOver = age < 0 || age >= windowMs;
    if (isOver && Atomics.compareExchange(words, this.#at + OPENED, opened, now | 0) === opened) {
      Atomics.store(words, this.#at + COUNT, 1);
      return true;
    }
    return Atomics.add(words, this.#at + COUNT, 1) < limit;
  }
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
    if (free < 0) return home * WORDS_PER_SLOT; // all 16 are busy: it shares a counter and is limited sooner
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
