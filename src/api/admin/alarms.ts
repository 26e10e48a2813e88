import type { Ledger } from '../../ledger/ledger.ts';
import { type ReportedAlarm, SILENT_MS } from '../../ledger/operations/replicas.ts';
import { processName } from '../../runtime/process-name.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import { adminEndpoint } from './admin-endpoint.ts';

export interface AlarmSources {
  /** Identifies this process among the replicas. */
  id: string;
  /** The active alarms of this process. */
  alarms(): readonly ReportedAlarm[];
  isLedgerUnusable(): boolean;
}

/** The alarms of one process. */
interface ProcessAlarms {
  process: string;
  alarms: readonly ReportedAlarm[];
}

/**
 * GET /admin/alarms: the active alarms of this process, and of the others as of their last heartbeat. It works without
 * the ledger, so that an operator can see that the ledger is down.
 */
export function adminAlarms(sources: AlarmSources): AdminEndpoint {
  return adminEndpoint('/admin/alarms', {
    async GET({ ledger }) {
      const own = { process: processName(), alarms: sources.alarms() };
      const others = sources.isLedgerUnusable() ? undefined : await alarmsOfOthers(ledger, sources.id);
      return { success: true, complete: others !== undefined, alarms: merge([own, ...(others ?? [])]) };
    },
  });
}

/** Undefined if the ledger does not respond. Skips silent processes: they died, or cannot report. */
async function alarmsOfOthers(ledger: Ledger, ownId: string): Promise<ProcessAlarms[] | undefined> {
  try {
    const { now, replicas } = await ledger.replicas.list();
    return replicas
      .filter(({ id, seen }) => id !== ownId && now - seen <= SILENT_MS)
      .map(({ name, alarms }) => ({ process: name, alarms }));
  } catch {
    return undefined;
  }
}

/** One entry per alarm name, with the details of the first report and the earliest start. */
function merge(reports: readonly ProcessAlarms[]) {
  const alarms = reports.flatMap(({ process, alarms }) => alarms.map((alarm) => ({ process, ...alarm })));
  return [...Map.groupBy(alarms, ({ name }) => name)].map(([name, same]) => {
    const { type, ...details } = same[0]!.event;
    const starts = same.flatMap(({ since }) => since ?? []);
    return {
      name,
      type,
      since: starts.length === 0 ? null : new Date(Math.min(...starts)).toISOString(),
      details,
      processes: same.map(({ process }) => process).sort(),
    };
  });
}
