import type { Ledger } from '../../ledger/ledger.ts';
import type { RunnerParts } from '../run/context.ts';
import { loadSample } from '../sample/load.ts';

/** A setting in the ledger, because the process that gets the request need not be the one that runs the feeds. */
export const SAMPLE_META = 'sample';
export const SAMPLE_REQUESTED = 'requested';

/** Loads the bundle if an operator has requested it. Each request is taken by one process. */
export async function loadRequestedSample(parts: RunnerParts): Promise<boolean> {
  if (!(await takeRequest(parts.ledger))) return false;
  await loadSample(parts);
  return true;
}

async function takeRequest({ engine }: Ledger): Promise<boolean> {
  const [found] =
    await engine.read`SELECT 1 FROM meta WHERE name = ${SAMPLE_META} AND value = ${SAMPLE_REQUESTED}`;
  if (!found) return false;
  const taken = await engine.write(
    (tx) =>
      tx`UPDATE meta SET value = 'taken' WHERE name = ${SAMPLE_META} AND value = ${SAMPLE_REQUESTED} RETURNING 1`,
  );
  return taken.length > 0;
}
