import { RESERVED_SPACE } from '../engine/disk-space.ts';
import { asText, type RowValues, type Sql } from '../engine/rows.ts';
import { MOVE_MARKER } from './marker.ts';

/** What belongs to one ledger only: its epoch, the marker of a move, and the space that SQLite reserves for counts. */
const NOT_MOVED: readonly string[] = ['epoch', MOVE_MARKER, RESERVED_SPACE];

/** What the service stores about itself, its secrets included, as far as a move takes it along. */
export async function metaRows(handle: Sql): Promise<RowValues[]> {
  const rows = await handle`SELECT name, value FROM meta`;
  return rows
    .filter(({ name }) => !NOT_MOVED.includes(asText(name)))
    .map(({ name, value }) => [asText(name), asText(value)]);
}
