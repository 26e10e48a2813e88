import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { LongTable, TextPiece } from '../model/long-table.ts';
import { type TextFormat, tableWriter } from '../model/table.ts';
import { cachedText, type TableCache } from './cached-text.ts';
import type { TableSource } from './table-source.ts';

/** Large enough to need few system calls, small enough to buffer for a thousand slow clients. */
const CHUNK_CHARACTERS = 32 * 1024;

/** Streams a long table from memory. It counts the rows first, because they are charged first. */
export class LongTableSource implements TableSource {
  readonly #table: LongTable;
  readonly #format: TextFormat;
  readonly #cached: { cache: TableCache; etag: string } | undefined;
  #rows = 0;

  /** With a cache, the text of a table that is downloaded repeatedly is kept under its tag. */
  constructor(table: LongTable, format: TextFormat, cached?: { cache: TableCache; etag: string }) {
    this.#table = table;
    this.#format = format;
    this.#cached = cached;
  }

  async units(): Promise<number> {
    this.#rows = await this.#table.count();
    return this.#table.unitsOf(this.#rows);
  }

  text(): AsyncGenerator<Uint8Array> {
    const write = () => textChunks(this.#table, this.#rows, this.#format);
    return this.#cached ? cachedText(this.#cached.cache, this.#cached.etag, write) : write();
  }

  async release(): Promise<void> {}
}

/**
 * Writes a table as chunks of text on demand, yielding to requests between pieces. It throws if the number of rows is
 * not the one that was charged, so that such a file does not look complete.
 */
async function* textChunks(table: LongTable, rows: number, format: TextFormat): AsyncGenerator<Uint8Array> {
  let text = tableWriter(format).head(table.columns);
  let written = 0;
  for (const piece of textPieces(table, format)) {
    text += piece.text;
    written += piece.rows;
    if (text.length >= CHUNK_CHARACTERS) {
      yield Buffer.from(text);
      text = '';
    }
    if (shouldYield()) await yieldToRequests();
  }
  const isComplete = table.mayHaveFewer ? written <= rows : written === rows;
  if (!isComplete) throw new Error(`a download has ${written} rows, but ${rows} were charged`);
  if (text !== '') yield Buffer.from(text);
}

function* textPieces(table: LongTable, format: TextFormat): Iterable<TextPiece> {
  if (format === 'csv' && table.csv) return yield* table.csv();
  const { body } = tableWriter(format);
  for (const rows of table.pieces()) yield { text: body(table.columns, rows), rows: rows.length };
}
