import { writeMeta } from '../engine/meta.ts';
import { asText, type Sql } from '../engine/rows.ts';

/** A run of a feed that an operator has requested. Of two requests for a feed, the later one counts. */
export interface RunRequest {
  /** Whether to publish doubtful prices. */
  accept: boolean;
}

const ACCEPT = 'accept';

/** The requests whose runs have not started, by feed. */
export async function waitingRequests(handle: Sql): Promise<Map<string, RunRequest>> {
  const rows = await handle`SELECT name, value FROM meta WHERE name LIKE ${metaName('%')}`;
  return new Map(
    rows.map((row) => [asText(row.name).slice(metaName('').length), { accept: row.value === ACCEPT }]),
  );
}

export async function addRequest(tx: Sql, feed: string, { accept }: RunRequest): Promise<void> {
  await writeMeta(tx, metaName(feed), textOf(accept));
}

/** Returns false if the request is gone, or was replaced by another. */
export async function takeRequest(tx: Sql, feed: string, { accept }: RunRequest): Promise<boolean> {
  const taken =
    await tx`DELETE FROM meta WHERE name = ${metaName(feed)} AND value = ${textOf(accept)} RETURNING 1`;
  return taken.length > 0;
}

function metaName(feed: string): string {
  return `feed-request ${feed}`;
}

function textOf(accept: boolean): string {
  return accept ? ACCEPT : '';
}
