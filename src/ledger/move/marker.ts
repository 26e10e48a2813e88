import { asText, type RowValues, type Sql } from '../engine/rows.ts';

/** The name in `meta` that marks the target of an unfinished move. Removed when the move completes. */
export const MOVE_MARKER = 'move';

/** The progress of a move. It is written in the same transaction as the copied rows. */
export interface MoveMarker {
  /** The epoch of the source. Only a move of the same source may continue. */
  epoch: string;
  /** The revisions of the source. If it was written to since, the move starts over. */
  prices: number;
  accounts: number;
  /** The table that is being copied, and the key of its last copied row. Earlier tables are complete. */
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
