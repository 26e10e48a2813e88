import { outageReason } from '../../ledger/engine/errors.ts';
import { ROWS_PER_TRANSACTION } from '../../ledger/engine/statements.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { TickOutcome } from '../../ledger/quarantine/admit-ticks.ts';
import type { TickBatch } from '../../ledger/quarantine/quarantine.ts';

interface Pending {
  batch: TickBatch;
  written: PromiseWithResolvers<TickOutcome[]>;
}

/**
 * Writes batches of ticks. Those that arrive while a transaction is under way share the next one:
 *
 *     arrive    1    2  3 4       5 6
 *     written   [ 1 ][ 2 ][ 3 4  ][ 5 6 ]
 *
 * A transaction takes about as long for fifty ticks as for one, and price writes exclude each other in any case. A batch is
 * reported as written after the commit, when it is on disk.
 */
export class GroupCommit {
  readonly #openLedger: () => Promise<Ledger>;
  #pending: Pending[] = [];
  #isWriting = false;

  constructor(openLedger: () => Promise<Ledger>) {
    this.#openLedger = openLedger;
  }

  /** Resolves when all of the ticks are on disk. More than 2,000 take several transactions, and others go in between. */
  async write({ source, ticks }: TickBatch): Promise<TickOutcome[]> {
    const outcomes: TickOutcome[] = [];
    for (let from = 0; from < ticks.length; from += ROWS_PER_TRANSACTION) {
      const some = await this.#enqueue({ source, ticks: ticks.slice(from, from + ROWS_PER_TRANSACTION) });
      for (const outcome of some) outcomes.push(outcome);
    }
    return outcomes;
  }

  #enqueue(batch: TickBatch): Promise<TickOutcome[]> {
    const written = Promise.withResolvers<TickOutcome[]>();
    this.#pending.push({ batch, written });
    if (!this.#isWriting) void this.#writeAll();
    return written.promise;
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#pending.length > 0) await writeGroup(this.#openLedger, this.#takeGroup());
    this.#isWriting = false;
  }

  /** The first batches that fit into one transaction. */
  #takeGroup(): Pending[] {
    let ticks = 0;
    const end = this.#pending.findIndex(({ batch }, i) => {
      ticks += batch.ticks.length;
      return i > 0 && ticks > ROWS_PER_TRANSACTION;
    });
    return this.#pending.splice(0, end === -1 ? this.#pending.length : end);
  }
}

/** Settles the promise of each batch, and never rejects. */
async function writeGroup(openLedger: () => Promise<Ledger>, group: readonly Pending[]): Promise<void> {
  try {
    const { engine, quarantine } = await openLedger();
    const outcomes = await quarantine.admitTogether(group.map(({ batch }) => batch));
    await engine.flush();
    for (const [i, { written }] of group.entries()) written.resolve(outcomes[i]!);
  } catch (error) {
    if (group.length === 1 || outageReason(error) !== undefined) {
      for (const { written } of group) written.reject(error);
      return;
    }
    // One of them cannot be written, for example because its symbol was just deleted. The others can.
    for (const one of group) await writeGroup(openLedger, [one]);
  }
}
