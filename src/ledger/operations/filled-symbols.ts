import { readMeta, writeMeta } from '../engine/meta.ts';
import type { Sql } from '../engine/rows.ts';

/** The id of the symbol that each series of a feed fills, by the id of the series. */
export type FilledSymbols = Readonly<Record<string, number>>;

/** What a feed filled in its last successful run. */
export async function readFilled(handle: Sql, feed: string): Promise<FilledSymbols> {
  return JSON.parse((await readMeta(handle, metaName(feed))) ?? '{}');
}

export function writeFilled(tx: Sql, feed: string, filled: FilledSymbols): Promise<void> {
  return writeMeta(tx, metaName(feed), JSON.stringify(filled));
}

function metaName(feed: string): string {
  return `feed-symbols ${feed}`;
}
