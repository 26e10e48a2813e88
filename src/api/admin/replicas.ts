import type { Board } from '../../board/board.ts';
import { readHolders } from '../../ledger/quota-holders.ts';
import type { AdminEndpoint } from '../endpoint.ts';
import type { Health } from '../operations.ts';

/** GET /admin/replicas: this process and how far it has followed the ledger; and who holds units of quotas. */
export function adminReplicas(board: Board, health: () => Health, version: string): AdminEndpoint {
  return {
    kind: 'admin',
    name: 'admin',
    path: '/admin/replicas',
    actions: {
      async GET({ ledger, now }) {
        const head = await ledger.head();
        const { phase, newestAt, simulated } = health();
        return {
          success: true,
          answering: {
            version,
            phase,
            simulated,
            engine: ledger.engine.name,
            revision: board.revision,
            behind: Math.max(0, head.prices - board.revision),
            newestDataAgeSeconds:
              newestAt === undefined ? null : Math.max(0, Math.floor((now - newestAt) / 1000)),
            historyBytes: board.bytes,
          },
          holders: await readHolders(ledger.engine),
        };
      },
    },
  };
}
