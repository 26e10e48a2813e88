import type { HeldTick } from '../../ledger/quarantine.ts';
import type { AdminEndpoint } from '../endpoint.ts';
import { refuse } from '../errors.ts';
import { single } from '../parameters.ts';

const TICKS_MAX = 1_000;

/** Ticks that were held back: see them, take them after all, or give them up. */
export const adminQuarantine: readonly AdminEndpoint[] = [
  {
    kind: 'admin',
    name: 'admin',
    path: '/admin/quarantine',
    actions: {
      async GET({ query, ledger }) {
        const all = single(query, 'all') === 'true';
        const ticks = await ledger.quarantine.list({ all, limit: TICKS_MAX });
        return { success: true, ticks: ticks.map(record) };
      },
    },
  },
  {
    kind: 'admin',
    name: 'admin',
    path: '/admin/quarantine/:id/release',
    actions: {
      async POST({ id, ledger, now }) {
        if (!(await ledger.quarantine.release(numberOf(id), now, 'operator'))) throw notThere(id);
        return { success: true, id: numberOf(id), state: 'released' };
      },
    },
  },
  {
    kind: 'admin',
    name: 'admin',
    path: '/admin/quarantine/:id/drop',
    actions: {
      async POST({ id, ledger, now }) {
        if (!(await ledger.quarantine.drop(numberOf(id), now, 'operator'))) throw notThere(id);
        return { success: true, id: numberOf(id), state: 'dropped' };
      },
    },
  },
];

/** Of what is no number there is no tick. */
function numberOf(id: string): number {
  return /^\d{1,9}$/.test(id) ? Number(id) : -1;
}

function notThere(id: string) {
  return refuse('not_there', { what: 'tick in quarantine', id: id.slice(0, 64) });
}

function record({ at, received, decidedAt, decidedBy, ...tick }: HeldTick) {
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    ...tick,
    at: iso(at),
    received: iso(received),
    decidedAt: decidedAt === undefined ? null : iso(decidedAt),
    decidedBy: decidedBy ?? null,
  };
}
