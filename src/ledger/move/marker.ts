import { asText, type RowValues, type Sql } from '../engine/rows.ts';

/** The name in `meta` that marks a ledger into which another is being moved. It goes when the move is complete. */
export const MOVE_MARKER = 'move';

/** How far a move has come. It is written in the transaction of the rows that it speaks of. */
export interface MoveMarker {
  /** The epoch of the source: only the same source may go on. */
  epoch: string;
  /** Where the source stood; a source that was written to since is moved again from the start. */
  prices: number;
  accounts: number;
  /** The table that is being copied, and the key of its last row that is. Tables before it are complete. */
  table?: string;
  after?: RowValues;
}

export async function readMarker(handle: Sql): Promise<MoveMarker | undefined> {
  const [row] = await handle`SELECT value FROM meta WHERE name = ${MOVE_MARKER}`;
  return row === undefined ? undefined : (JSON.parse(asText(row.value)) as MoveMarker);
}

export async function writeMarker(tx: Sql, marker: MoveMarker): Promise<void> {
  const text = JSON.stringify(marker);
  await tx`INSERT INTO meta (name, value) VALUES (${MOVE_MARKER}, ${text})
    ON CONFLICT (name) DO UPDATE SET value = ${text}`;
}
