import type { AuditLog } from '../audit/audit-log.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision, raiseHorizon } from '../engine/revisions.ts';
import { deleteSome, tablesWith } from '../schema/delete-rows.ts';

/**
 * Deletes an account with its keys, and then its usage in small batches. Every replica evicts all cached keys when it
 * next polls the ledger, so a deleted key is refused as fast as a revoked one. A second call deletes what an interrupted
 * call has left, or what a replica has counted since. Returns whether there was anything to delete.
 */
export async function deleteAccount(engine: Engine, audit: AuditLog, id: string): Promise<boolean> {
  const existed = await engine.write(async (tx) => {
    const revision = await nextRevision(tx, 'accounts');
    await tx`DELETE FROM api_key WHERE account_id = ${id}`;
    const deleted = await tx`DELETE FROM account WHERE id = ${id} RETURNING name, plan`;
    const [account] = deleted;
    if (!account) return false;
    await raiseHorizon(tx, 'accounts', revision);
    await audit.record(tx, { action: 'account.delete', target: id, details: { ...account } });
    return true;
  });
  let hadUsage = false;
  while (await deleteUsage(engine, id)) hadUsage = true;
  return existed || hadUsage;
}

/**
 * Goes through all tables once. Returns whether there was anything to delete. A sync that began before the account was
 * deleted may write to tables that were emptied before: only after a pass that found nothing, no part of it is left.
 */
async function deleteUsage(engine: Engine, id: string): Promise<boolean> {
  let found = false;
  for (const table of tablesWith('account_id')) {
    while ((await deleteSome(engine, table, 'account_id', id)) > 0) found = true;
  }
  return found;
}
