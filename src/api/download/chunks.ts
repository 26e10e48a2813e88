import { turns } from '../../turns.ts';
import { type TableFormat, tableWriter } from '../table.ts';
import type { LongTable } from './long-table.ts';

/** Large enough for few system calls, small enough for a thousand slow clients. */
const CHUNK_CHARACTERS = 32 * 1024;

/**
 * A table as text, a chunk at a time, as fast as they are asked for. Between pieces it yields to requests. It fails when
 * it has not written the rows that were counted: a file that is not what was charged must not look complete.
 */
export async function* textChunks(
  table: LongTable,
  rows: number,
  format: TableFormat,
): AsyncGenerator<Uint8Array> {
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
    if (turns.isOver) await turns.next();
  }
  if (written !== rows) throw new Error(`a download has ${written} rows, and ${rows} were charged`);
  if (text !== '') yield Buffer.from(text);
}

/** A body that takes each chunk from its source when the client has room for it, and ends the source when the client leaves. */
export function bodyOf(
  chunks: AsyncGenerator<Uint8Array>,
  onFailure: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          onFailure(error);
          throw error;
        }
      },
      async cancel() {
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
