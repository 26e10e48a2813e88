import type { Ledger } from '../../ledger/ledger.ts';
import type { SymbolDay } from '../../ledger/symbols/origin.ts';
import { utcDay } from '../../market/day.ts';

/** The name under which the ledger keeps it. */
const NAME = 'closed-up-to';

/** Every tick up to `revision` is in a bar, if its session had ended by `at`. */
interface Saved {
  /** Of the ledger: after a restore, revisions mean something else. */
  epoch: string;
  revision: number;
  at: number;
}

/**
 * Which days a closer has to look at: those whose ticks are new since it last looked. It is saved in the ledger, so a start
 * does not have to look at every tick that is kept.
 */
export class ClosingProgress {
  readonly #ledger: Ledger;
  /** Ticks up to this revision have been looked at; undefined before the first look. */
  #seen: number | undefined;
  #saved = -1;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** The days that may need a bar and were not given before, in pages. */
  async *newDays(): AsyncGenerator<readonly SymbolDay[]> {
    const { tickDays } = this.#ledger.ticks;
    const { epoch, prices } = await this.#ledger.head();
    const saved = this.#seen === undefined ? await this.#read(epoch) : undefined;
    const after = this.#seen ?? saved?.revision;
    const changed = after === undefined ? undefined : await tickDays.changed(after, prices);
    if (changed) yield changed;
    // Sessions that were open then have no bar yet. Without a trace of earlier work, any day may lack one.
    // No session ends more than two days from its date, in any zone.
    if (!changed) yield* tickDays.list();
    else if (saved) yield* tickDays.list(utcDay(saved.at) - 2);
    this.#seen = prices;
  }

  /** Notes that all days given so far have their bar, if their session had ended by `at`. */
  async save(at: number): Promise<void> {
    if (this.#seen === undefined || this.#seen === this.#saved) return;
    const { epoch } = await this.#ledger.head();
    await this.#ledger.setMeta(NAME, JSON.stringify({ epoch, revision: this.#seen, at } satisfies Saved));
    this.#saved = this.#seen;
  }

  async #read(epoch: string): Promise<Saved | undefined> {
    const text = await this.#ledger.meta(NAME);
    const saved = text === undefined ? undefined : (JSON.parse(text) as Saved);
    return saved?.epoch === epoch ? saved : undefined;
  }
}
