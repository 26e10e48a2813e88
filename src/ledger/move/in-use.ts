import { plural } from '../../runtime/plural.ts';
import { AuditLog } from '../audit/audit-log.ts';
import type { Engine } from '../engine/engine.ts';
import { FeedStore } from '../operations/feeds.ts';
import { ReplicaStore, SILENT_MS } from '../operations/replicas.ts';
import { readHolders } from '../quota/holders.ts';

/** The reasons not to move a ledger now, one sentence each. */
export async function reasonsNotToMove(engine: Engine): Promise<string[]> {
  const reasons: string[] = [];
  const { now, replicas } = await new ReplicaStore(engine).list();
  const live = replicas.filter(({ seen }) => now - seen < SILENT_MS);
  if (live.length > 0) {
    const names = live.map(({ name }) => name).join(', ');
    reasons.push(`a service runs on it (${names}): stop it; one that was killed counts as running for 15 s`);
  }
  for (const [feed, holder] of await new FeedStore(engine, new AuditLog(engine)).holders()) {
    reasons.push(`the feed ${feed} is being fetched by ${holder}: wait for it to finish`);
  }
  const holders = live.length > 0 ? [] : await readHolders(engine);
  if (holders.length > 0) {
    const units = holders.reduce((sum, holder) => sum + holder.units, 0);
    reasons.push(
      `${plural(holders.length, 'process', 'processes')} ended without returning ${plural(units, 'leased unit')}: start each of them with its own ` +
        'data folder and stop it again, so that what they counted is in the ledger',
    );
  }
  return reasons;
}
