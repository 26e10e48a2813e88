import type { HeldBar } from '../../ledger/quarantine/held-bars.ts';
import type { HeldTick } from '../../ledger/quarantine/quarantine.ts';
import { printDay } from '../../market/day.ts';
import { refuse } from '../errors/errors.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import { single } from '../params/parameters.ts';

const LISTED_MAX = 1_000;

/** Ticks and bars that were held back: see them, take them after all, or give them up. */
export const adminQuarantine: readonly AdminEndpoint[] = [
  {
    kind: 'admin',
    name: 'admin',
    path: '/admin/quarantine',
    actions: {
      async GET({ query, ledger }) {
        const all = single(query, 'all') === 'true';
        const ticks = await ledger.quarantine.list({ all, limit: LISTED_MAX });
        const bars = await ledger.heldBars.list({ all, limit: LISTED_MAX });
        return { success: true, ticks: ticks.map(record), bars: bars.map(barRecord) };
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

/** No price has an id that is not a number. */
function numberOf(id: string): number {
  return /^\d{1,9}$/.test(id) ? Number(id) : -1;
}

function notThere(id: string) {
  return refuse('not_there', { what: 'price in quarantine', id: id.slice(0, 64) });
}

function barRecord({ day, received, decidedAt, decidedBy, ...bar }: HeldBar) {
  return {
    ...bar,
    date: printDay(day),
    received: new Date(received).toISOString(),
    decidedAt: decidedAt === undefined ? null : new Date(decidedAt).toISOString(),
    decidedBy: decidedBy ?? null,
  };
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
