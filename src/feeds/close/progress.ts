import type { Ledger } from '../../ledger/ledger.ts';
import type { SymbolDay } from '../../ledger/symbols/origin.ts';
import { lastDayEnded } from '../../market/session.ts';

/** The key in the ledger's metadata. */
const NAME = 'closed-up-to';

/** Every tick up to `revision` is in a bar, if its session had ended by `at`. */
interface Saved {
  /** The ledger's epoch: after a restore, revisions have another meaning. */
  epoch: string;
  revision: number;
  at: number;
}

/**
 * Finds the days with ticks that a closer has not processed. Progress is saved in the ledger, so that a start need not read
 * every stored tick.
 */
export class ClosingProgress {
  readonly #ledger: Ledger;
  /** Ticks up to this revision were returned; undefined at the start. */
  #reached: number | undefined;
  #saved = -1;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** The days that may need a bar and were not returned before, in pages. */
  async *newDays(): AsyncGenerator<readonly SymbolDay[]> {
    const { tickDays } = this.#ledger.ticks;
    const { epoch, prices } = await this.#ledger.head();
    const saved = this.#reached === undefined ? await this.#read(epoch) : undefined;
    const after = this.#reached ?? saved?.revision;
    const changed = after === undefined ? undefined : await tickDays.changed(after, prices);
    if (changed) yield changed;
    // Sessions that were open at that time have no bar yet. Without saved progress, any day may lack one.
    if (!changed) yield* tickDays.list();
    else if (saved) yield* tickDays.list(lastDayEnded(saved.at));
    this.#reached = prices;
  }

  /** Saves that all days returned so far have their bar, if their session had ended by `at`. */
  async save(at: number): Promise<void> {
    if (this.#reached === undefined || this.#reached === this.#saved) return;
    const { epoch } = await this.#ledger.head();
    await this.#ledger.setMeta(NAME, JSON.stringify({ epoch, revision: this.#reached, at } satisfies Saved));
    this.#saved = this.#reached;
  }

  async #read(epoch: string): Promise<Saved | undefined> {
    const text = await this.#ledger.meta(NAME);
    const saved = text === undefined ? undefined : (JSON.parse(text) as Saved);
    return saved?.epoch === epoch ? saved : undefined;
  }
}
