import type { Ledger } from '../../ledger/ledger.ts';
import type { HeldBar } from '../../ledger/quarantine/held-bars.ts';
import type { HeldTick } from '../../ledger/quarantine/quarantine.ts';
import { printDay } from '../../market/day.ts';
import { refuse } from '../errors/errors.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import { readFlag } from '../params/parameters.ts';
import { adminEndpoint } from './admin-endpoint.ts';

const LISTED_MAX = 1_000;

/** /admin/quarantine: lists quarantined ticks and bars, and releases or drops them. */
export const adminQuarantine: readonly AdminEndpoint[] = [
  adminEndpoint('/admin/quarantine', {
    async GET({ query, ledger }) {
      const all = readFlag(query, 'all');
      const ticks = await ledger.quarantine.list({ all, limit: LISTED_MAX + 1 });
      const bars = await ledger.heldBars.list({ all, limit: LISTED_MAX + 1 });
      return {
        success: true,
        ticks: ticks.slice(0, LISTED_MAX).map(tickRecord),
        bars: bars.slice(0, LISTED_MAX).map(barRecord),
        complete: Math.max(ticks.length, bars.length) <= LISTED_MAX,
      };
    },
  }),
  adminEndpoint('/admin/quarantine/:id/release', {
    async POST({ id, ledger, now }) {
      if (!(await ledger.quarantine.release(numberOf(id), now, 'operator'))) throw await whyNot(ledger, id);
      return { success: true, id: numberOf(id), state: 'released' };
    },
  }),
  adminEndpoint('/admin/quarantine/:id/drop', {
    async POST({ id, ledger, now }) {
      if (!(await ledger.quarantine.drop(numberOf(id), now, 'operator'))) throw await whyNot(ledger, id);
      return { success: true, id: numberOf(id), state: 'dropped' };
    },
  }),
];

/** Parses an id. -1, which no entry has, if it is not a number. */
function numberOf(id: string): number {
  return /^\d{1,9}$/.test(id) ? Number(id) : -1;
}

async function whyNot({ quarantine }: Ledger, id: string) {
  const state = await quarantine.stateOf(numberOf(id));
  if (state === undefined) return refuse('not_there', { what: 'price in quarantine', id: id.slice(0, 64) });
  return refuse('conflict', { why: `price ${id} has already been ${state}` });
}

function barRecord({ day, received, decidedAt, decidedBy, ...bar }: HeldBar) {
  return { ...bar, date: printDay(day), received: iso(received), ...decisionOf({ decidedAt, decidedBy }) };
}

function tickRecord({ at, received, decidedAt, decidedBy, ...tick }: HeldTick) {
  return { ...tick, at: iso(at), received: iso(received), ...decisionOf({ decidedAt, decidedBy }) };
}

function decisionOf({ decidedAt, decidedBy }: Pick<HeldTick, 'decidedAt' | 'decidedBy'>) {
  return { decidedAt: decidedAt === undefined ? null : iso(decidedAt), decidedBy: decidedBy ?? null };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
