import type { Ledger } from '../../ledger/ledger.ts';
import { type ReportedAlarm, SILENT_MS } from '../../ledger/operations/replicas.ts';
import { processName } from '../../runtime/process-name.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';

export interface AlarmSources {
  /** Names the process that answers among the replicas. */
  id: string;
  /** The alarms that are on in it. */
  alarms(): readonly ReportedAlarm[];
  isLedgerUnusable(): boolean;
}

/** The alarms of one process. */
interface Report {
  process: string;
  alarms: readonly ReportedAlarm[];
}

/**
 * GET /admin/alarms: the alarms that are on, in this process now and in the others at their last heartbeat. It needs no
 * ledger: an operator must see that the ledger is away.
 */
export function adminAlarms(sources: AlarmSources): AdminEndpoint {
  return {
    kind: 'admin',
    name: 'admin',
    path: '/admin/alarms',
    actions: {
      async GET({ ledger }) {
        const own = { process: processName(), alarms: sources.alarms() };
        const others = sources.isLedgerUnusable() ? undefined : await reportsOfOthers(ledger, sources.id);
        return { success: true, complete: others !== undefined, alarms: merge([own, ...(others ?? [])]) };
      },
    },
  };
}

/** Undefined when the ledger does not answer. A process that is silent has died, or cannot report. */
async function reportsOfOthers(ledger: Ledger, ownId: string): Promise<Report[] | undefined> {
  try {
    const { now, replicas } = await ledger.replicas.list();
    return replicas
      .filter(({ id, seen }) => id !== ownId && now - seen <= SILENT_MS)
      .map(({ name, alarms }) => ({ process: name, alarms }));
  } catch {
    return undefined;
  }
}

/** One entry for each name, with the first report's details and the earliest beginning. */
function merge(reports: readonly Report[]) {
  const alarms = reports.flatMap(({ process, alarms }) => alarms.map((alarm) => ({ process, ...alarm })));
  return [...Map.groupBy(alarms, ({ name }) => name)].map(([name, same]) => {
    const { type, ...details } = same[0]!.event;
    const begins = same.flatMap(({ since }) => since ?? []);
    return {
      name,
      type,
      since: begins.length === 0 ? null : new Date(Math.min(...begins)).toISOString(),
      details,
      processes: same.map(({ process }) => process).sort(),
    };
  });
}
