import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import { type TableFormat, tableWriter } from '../model/table.ts';
import type { TableSource } from './download.ts';
import type { LongTable } from './long-table.ts';

/** Large enough for few system calls, small enough for a thousand slow clients. */
const CHUNK_CHARACTERS = 32 * 1024;

/**
 * A table as text, a chunk at a time, as fast as they are asked for. Between pieces it yields to requests. It fails when
 * it has not written the rows that were counted: a file that is not what was charged must not look complete.
 */
async function* textChunks(table: LongTable, rows: number, format: TableFormat): AsyncGenerator<Uint8Array> {
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
  if (written !== rows) throw new Error(`a download has ${written} rows, and ${rows} were charged`);
  if (text !== '') yield Buffer.from(text);
}

/** A long table as it is sent. Its rows are counted before they are written. */
export class LongTableSource implements TableSource {
  readonly #table: LongTable;
  readonly #format: TableFormat;
  #rows = 0;

  constructor(table: LongTable, format: TableFormat) {
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

export interface BodyEvents {
  onFailure(error: unknown): void;
  /** The last chunk was sent, or the client has left, or it failed. */
  onEnd(): void;
}

/** A body that takes each chunk from its source when the client has room for it, and ends the source when the client leaves. */
export function bodyOf(
  chunks: AsyncGenerator<Uint8Array>,
  { onFailure, onEnd }: BodyEvents,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (!done) {
            controller.enqueue(value);
            return;
          }
          controller.close();
        } catch (error) {
          onFailure(error);
          onEnd();
          throw error;
        }
        onEnd();
      },
      async cancel() {
        await chunks.return(undefined);
        onEnd();
      },
    },
    { highWaterMark: 0 },
  );
}
