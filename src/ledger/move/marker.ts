import { readMeta, writeMeta } from '../engine/meta.ts';
import type { RowValues, Sql } from '../engine/rows.ts';

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
  const text = await readMeta(handle, MOVE_MARKER);
  return text === undefined ? undefined : (JSON.parse(text) as MoveMarker);
}

export function writeMarker(tx: Sql, marker: MoveMarker): Promise<void> {
  return writeMeta(tx, MOVE_MARKER, JSON.stringify(marker));
}
