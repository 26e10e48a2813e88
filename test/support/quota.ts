import type { Ledger } from '../../src/ledger/ledger.ts';

/** Moves the account to a new plan with this quota; creates the account if there is none. */
export async function giveQuota(ledger: Ledger, id: string, quota: number): Promise<void> {
  const limits = { delaySeconds: 0, maxSymbols: 5, maxSpanDays: 30, burstPerSecond: 5, history: true };
  await ledger.plans.set({ name: id, quota, ...limits });
  if (await ledger.accounts.find(id)) return;
  await ledger.accounts.create({ id, name: id, plan: id, status: 'active', createdAt: 0 });
}
