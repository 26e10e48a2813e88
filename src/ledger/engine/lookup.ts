import type { ColumnTypes, Engine, RowStatement } from './engine.ts';
import { asNumber, type Cell, type RowValues } from './rows.ts';

interface PendingLookup {
  values: RowValues;
  rows: Cell[][];
  answer: PromiseWithResolvers<Cell[][]>;
}

/**
 * Batches lookups: those that are requested in the same turn of the event loop run as one statement with a row of values for
 * each. On PostgreSQL, looking up thousands of symbols one after another would take as many round trips.
 */
export class Lookup {
  readonly #engine: Engine;
  readonly #columns: ColumnTypes;
  readonly #text: RowStatement;
  #pending: PendingLookup[] = [];

  /** The statement returns `position`, the last of the columns, as the last cell. */
  constructor(engine: Engine, columns: ColumnTypes, text: RowStatement) {
    this.#engine = engine;
    this.#columns = { ...columns, position: 'BIGINT' };
    this.#text = text;
  }

  /** The other cells of the rows that the statement returns for these values. */
  find(...values: RowValues): Promise<Cell[][]> {
    const lookup = { values, rows: [], answer: Promise.withResolvers<Cell[][]>() };
    // A microtask runs after the other lookups of this turn were added.
    if (this.#pending.push(lookup) === 1) queueMicrotask(() => void this.#run());
    return lookup.answer.promise;
  }

  async #run(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    const { read } = this.#engine;
    const rows = pending.map(({ values }, position) => [...values, position]);
    try {
      const found = await this.#engine.forRows(read, this.#columns, rows, this.#text);
      for (const row of found) pending[asNumber(row.pop())]!.rows.push(row); // not a copy: bars are read by the million
      for (const { answer, rows } of pending) answer.resolve(rows);
    } catch (error) {
      for (const { answer } of pending) answer.reject(error);
    }
  }
}
