import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { LongTable } from '../model/long-table.ts';
import { type TextFormat, tableWriter } from '../model/table.ts';
import type { TableSource } from './table-source.ts';

/** Large enough to need few system calls, small enough to buffer for a thousand slow clients. */
const CHUNK_CHARACTERS = 32 * 1024;

/** Streams a long table from memory. It counts the rows first, because they are charged first. */
export class LongTableSource implements TableSource {
  readonly #table: LongTable;
  readonly #format: TextFormat;
  #rows = 0;

  constructor(table: LongTable, format: TextFormat) {
    this.#table = table;
    this.#format = format;
  }

  async units(): Promise<number> {
    this.#rows = await this.#table.count();
    return this.#table.unitsOf(this.#rows);
  }

  text(): AsyncGenerator<Uint8Array> {
    return textChunks(this.#table, this.#rows, this.#format);
  }

  async release(): Promise<void> {}
}

/**
 * Writes a table as chunks of text on demand, yielding to requests between pieces. It throws if the number of rows is
 * not the one that was charged, so that such a file does not look complete.
 */
async function* textChunks(table: LongTable, rows: number, format: TextFormat): AsyncGenerator<Uint8Array> {
  const { head, body } = tableWriter(format);
  let text = head(table.columns);
  let written = 0;
  for (const piece of table.pieces()) {
    text += body(table.columns, piece);
    written += piece.length;
    if (text.length >= CHUNK_CHARACTERS) {
      yield Buffer.from(text);
      text = '';
    }
    if (shouldYield()) await yieldToRequests();
  }
  if (written !== rows) throw new Error(`a download has ${written} rows, but ${rows} were charged`);
  if (text !== '') yield Buffer.from(text);
}
