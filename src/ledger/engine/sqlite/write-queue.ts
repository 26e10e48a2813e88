import { statSync, utimesSync } from 'node:fs';
import { systemClock } from '../../../runtime/clock.ts';
import { createPrivate } from './private-file.ts';

/** A writer that writes again within this time is in a bulk write. */
const BULK_GAP_MS = 10;
/** How long a mark is valid. A waiting writer renews it every few ms. */
const MARK_VALID_MS = 10;
/** By then the waiting writer has got the lock or has given up. */
const YIELD_MS_MAX = 40;

/**
 * Fair queue for SQLite's write lock, across processes. SQLite grants the lock to whoever tries at the right time, and an
 * import tries again microseconds after it released the lock. Other writers, which poll every few ms, would wait for more
 * than a second (800 ms measured for a push of ticks). So a waiting writer sets the mtime of a small file beside the
 * ledger, and a writer that has just finished checks that mark and yields before its next transaction. The mark uses the
 * system clock, which all processes of the machine share.
 */
export class WriteQueue {
  readonly #file: string;
  #finishedAt = Number.NEGATIVE_INFINITY;
  #isMarked = false;

  constructor(ledgerFile: string) {
    this.#file = `${ledgerFile}-waiting`;
  }

  /** Before a transaction: lets a waiting writer go first if this one has just finished a transaction. */
  async yieldToOthers(): Promise<void> {
    if (performance.now() - this.#finishedAt > BULK_GAP_MS) return;
    const start = performance.now();
    while (this.#othersWait() && performance.now() - start < YIELD_MS_MAX) await Bun.sleep(1);
  }

  /** Marks that this writer waits for the lock. */
  wait(): void {
    this.#isMarked = true;
    this.#mark(systemClock.now());
  }

  /** Removes the mark: this writer has the lock. */
  enter(): void {
    if (this.#isMarked) this.#mark(0);
    this.#isMarked = false;
  }

  leave(): void {
    this.#finishedAt = performance.now();
  }

  #othersWait(): boolean {
    const markedAt = statSync(this.#file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return Math.abs(systemClock.now() - markedAt) < MARK_VALID_MS;
  }

  #mark(atMs: number): void {
    try {
      utimesSync(this.#file, atMs / 1000, atMs / 1000);
    } catch {
      // The file is missing, or the disk is full. Without a mark the lock is not fair, but works.
      try {
        createPrivate(this.#file);
      } catch {}
    }
  }
}
