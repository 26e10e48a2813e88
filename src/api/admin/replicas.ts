import type { Board } from '../../board/board.ts';
import { type ReplicaRow, SILENT_MS } from '../../ledger/operations/replicas.ts';
import { type LeaseHolder, readHolders } from '../../ledger/quota/holders.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import { ageSeconds, type Health } from '../model/health.ts';
import { adminEndpoint } from './admin-endpoint.ts';

/** Identifies the process that handles the request. */
export interface ReplicaIdentity {
  id: string;
  version: string;
}

/** GET /admin/replicas: every serving process, its lag behind the ledger, and the quota units it holds. */
export function adminReplicas(
  board: Board,
  health: () => Health,
  { id, version }: ReplicaIdentity,
): AdminEndpoint {
  return adminEndpoint('/admin/replicas', {
    async GET({ ledger, now }) {
      const head = await ledger.head();
      const known = await ledger.replicas.list();
      const holders = await readHolders(ledger.engine);
      const { phase, newestPriceAt, newestWriteAt, simulated } = health();
      return {
        success: true,
        answering: {
          id,
          version,
          phase,
          simulated,
          engine: ledger.engine.name,
          revision: board.revision,
          behind: Math.max(0, head.prices - board.revision),
          newestDataAgeSeconds: ageSeconds(newestPriceAt, now),
          newestWriteAgeSeconds: ageSeconds(newestWriteAt, now),
          historyBytes: board.bytes,
        },
        newestRevision: head.prices,
        replicas: known.replicas.map((row) => record(row, known.now, head.prices, holders)),
        holders,
      };
    },
  });
}

/**
 * A live replica follows the ledger continuously, so its lag is the one it last reported. A silent one is assumed to
 * have stopped at its last report.
 */
function record(row: ReplicaRow, now: number, newest: number, holders: readonly LeaseHolder[]) {
  const { id, name, version, phase, started, seen, revision, head } = row;
  const held = holders.find((holder) => holder.replica === id);
  const isSilent = now - seen > SILENT_MS;
  return {
    id,
    name,
    version,
    phase: isSilent ? 'silent' : phase,
    startedAt: new Date(started).toISOString(),
    revision,
    behind: Math.max(0, (isSilent ? newest : head) - revision),
    silentSeconds: Math.max(0, Math.floor((now - seen) / 1000)),
    accounts: held?.accounts ?? 0,
    units: held?.units ?? 0,
  };
}
