import type { HeartbeatReport } from '../ledger/operations/replicas.ts';
import { Heartbeat } from '../ops/heartbeat.ts';
import type { Log } from '../runtime/log/log.ts';
import { processName } from '../runtime/process-name.ts';
import { VERSION } from '../runtime/version.ts';
import type { Core } from './core.ts';

/** Announces this process to the ledger. Each beat also reads which machines share the burst limits. */
export function createHeartbeat(core: Core, log: Log): Heartbeat {
  const { burst, ledger } = core;
  const replicas = {
    async beat(beat: HeartbeatReport) {
      await ledger.replicas.beat(beat);
      burst.setMachines(await ledger.machines.record(burst.machine));
    },
    leave: (id: string) => ledger.replicas.leave(id),
  };
  return new Heartbeat(replicas, log, () => ({
    id: core.replica,
    name: processName(),
    version: VERSION,
    phase: core.phase,
    revision: core.board.revision,
    alarms: core.alarms().map(({ version, ...alarm }) => alarm),
  }));
}
