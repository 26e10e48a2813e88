import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { EncodedRows, LongTable } from '../model/long-table.ts';
import { type TextFormat, tableWriter } from '../model/table.ts';
import type { TableSource } from './table-source.ts';

/** Large enough to need few system calls, small enough to buffer for a thousand slow clients. */
const CHUNK_BYTES = 32 * 1024;
/** Up to this length, a table that is in memory is sent at once, in about a millisecond. */
const READY_BYTES_MAX = 4 * 1024 * 1024;

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

  ready(): readonly Uint8Array[] | undefined {
    const pieces = this.#table.rendered?.(this.#format).ready();
    if (!pieces || lengthOf(pieces) > READY_BYTES_MAX) return undefined;
    const written = pieces.reduce((sum, { rows }) => sum + rows, 0);
    requireComplete(this.#table, written, this.#rows);
    return [headOf(this.#table, this.#format), ...pieces.map(({ bytes }) => bytes)];
  }

  async release(): Promise<void> {}
}

/**
 * Writes a table as chunks of text on demand, yielding to requests after each of them. It throws if the number of rows is
 * not the one that was charged, so that such a file does not look complete.
 */
async function* textChunks(table: LongTable, rows: number, format: TextFormat): AsyncGenerator<Uint8Array> {
  let pending: Uint8Array[] = [headOf(table, format)];
  let length = pending[0]!.length;
  let written = 0;
  for (const piece of encodedRows(table, format)) {
    pending.push(piece.bytes);
    length += piece.bytes.length;
    written += piece.rows;
    const isFull = length >= CHUNK_BYTES;
    if (isFull) {
      yield joined(pending);
      pending = [];
      length = 0;
    }
    if (isFull || shouldYield()) await yieldToRequests();
  }
  requireComplete(table, written, rows);
  if (length > 0) yield joined(pending);
}

function requireComplete(table: LongTable, written: number, charged: number): void {
  const isComplete = table.mayHaveFewer ? written <= charged : written === charged;
  if (!isComplete) throw new Error(`a download has ${written} rows, but ${charged} were charged`);
}

function headOf({ columns }: LongTable, format: TextFormat): Uint8Array {
  return Buffer.from(tableWriter(format).head(columns));
}

function lengthOf(pieces: readonly EncodedRows[]): number {
  return pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

function* encodedRows(table: LongTable, format: TextFormat): Iterable<EncodedRows> {
  if (table.rendered) return yield* table.rendered(format).pieces();
  const { body } = tableWriter(format);
  for (const rows of table.pieces()) {
    yield { bytes: Buffer.from(body(table.columns, rows)), rows: rows.length };
  }
}
