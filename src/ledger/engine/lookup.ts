import type { ColumnTypes, Engine, RowStatement } from './engine.ts';
import { asNumber, type Cell, type RowValues } from './rows.ts';

interface Question {
  values: RowValues;
  rows: Cell[][];
  answer: PromiseWithResolvers<Cell[][]>;
}

/**
 * A statement for one row of values. What is asked at the same time is one statement for many rows: on PostgreSQL, a look at
 * thousands of symbols, one after another, would be as many round trips.
 */
export class Lookup {
  readonly #engine: Engine;
  readonly #columns: ColumnTypes;
  readonly #text: RowStatement;
  #questions: Question[] = [];

  /** The statement returns `position` first, the last of the columns. */
  constructor(engine: Engine, columns: ColumnTypes, text: RowStatement) {
    this.#engine = engine;
    this.#columns = { ...columns, position: 'BIGINT' };
    this.#text = text;
  }

  /** The other cells of the rows that the statement returns for these values. */
  find(...values: RowValues): Promise<Cell[][]> {
    const question = { values, rows: [], answer: Promise.withResolvers<Cell[][]>() };
    // After those that ask in this turn, too.
    if (this.#questions.push(question) === 1) queueMicrotask(() => void this.#ask());
    return question.answer.promise;
  }

  async #ask(): Promise<void> {
    const questions = this.#questions;
    this.#questions = [];
    const { read } = this.#engine;
    const rows = questions.map(({ values }, position) => [...values, position]);
    try {
      const found = await this.#engine.forRows(read, this.#columns, rows, this.#text);
      for (const [position, ...cells] of found) questions[asNumber(position)]!.rows.push(cells);
      for (const { answer, rows } of questions) answer.resolve(rows);
    } catch (error) {
      for (const { answer } of questions) answer.reject(error);
    }
  }
}
