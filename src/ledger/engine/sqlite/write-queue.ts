import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { systemClock } from '../../../runtime/clock.ts';

/** Who writes again within this time is in the middle of a bulk write. */
const AGAIN_MS = 10;
/** A word that somebody waits is good for so long; who waits says it again every few ms. */
const FRESH_MS = 10;
/** Whoever waits has got in by then, or has gone. */
const GIVE_WAY_MS_MAX = 40;

/**
 * The line before SQLite's lock. SQLite gives it to whoever asks at the right moment, and an import asks again microseconds
 * after it has let go: everyone else, who looks every few ms, would wait for a second and more (800 ms for a push of ticks,
 * measured). So who waits says so, in all processes, by the time of a small file beside the ledger. Who has just written
 * looks at it before the next transaction, and lets the other go first. It goes by the system's clock, whatever clock the
 * ledger is given: all processes of the machine share that one.
 */
export class WriteQueue {
  readonly #file: string;
  #wroteAt = Number.NEGATIVE_INFINITY;
  #hasWaited = false;

  constructor(ledgerFile: string) {
    this.#file = `${ledgerFile}-waiting`;
  }

  /** Before a transaction: lets others go first, where this writer has just had its turn. */
  async giveWay(): Promise<void> {
    if (performance.now() - this.#wroteAt > AGAIN_MS) return;
    const start = performance.now();
    while (this.#somebodyWaits() && performance.now() - start < GIVE_WAY_MS_MAX) await Bun.sleep(1);
  }

  /** The file is busy, and is tried again soon. */
  wait(): void {
    this.#hasWaited = true;
    this.#mark(systemClock.now());
  }

  /** The lock is got: nobody need wait for this writer any more. */
  enter(): void {
    if (this.#hasWaited) this.#mark(0);
    this.#hasWaited = false;
  }

  leave(): void {
    this.#wroteAt = performance.now();
  }

  #somebodyWaits(): boolean {
    const saidAt = statSync(this.#file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return Math.abs(systemClock.now() - saidAt) < FRESH_MS;
  }

  #mark(atMs: number): void {
    try {
      utimesSync(this.#file, atMs / 1000, atMs / 1000);
    } catch {
      // There is none yet, or the disk is full: then it is luck, as it is without a line.
      try {
        writeFileSync(this.#file, '', { mode: 0o600 });
      } catch {}
    }
  }
}
