import type { Config } from '../../config.ts';
import type { LedgerLatency } from '../../ledger/engine/latency.ts';
import { openWhenReachable } from '../../ledger/engine/postgres/open-when-reachable.ts';
import { isSqliteSound } from '../../ledger/engine/sqlite/integrity.ts';
import { isPostgresSound } from '../../ledger/inspection/postgres-integrity.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { isPostgres, sqlitePath } from '../../ledger/open-engine.ts';
import { Faults } from '../../ops/faults.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log/log.ts';

/** Opens the ledger. Waits for a PostgreSQL that is still starting; a SQLite file is there or never will be. */
export function openLedger(config: Config, clock: Clock, log: Log, latency: LedgerLatency): Promise<Ledger> {
  // `info`: repeated warnings are aggregated, and each of these lines shows the progress of the start.
  const onLockWait = (message: string) => log.info('waiting for a lock', { message });
  const open = () => Ledger.open(config.databaseUrl, clock, 'serving', { latency, onLockWait });
  if (!isPostgres(config.databaseUrl)) return open();
  return openWhenReachable(open, {
    waitMs: config.databaseWaitSeconds * 1_000,
    onWaiting: (message, waitedMs) =>
      log.info('waiting for PostgreSQL', { message, waitedSeconds: Math.round(waitedMs / 1_000) }),
  });
}

/** Monitors the ledger, and the work of this process that depends on it. */
export function createFaults(
  config: Config,
  clock: Clock,
  ledger: Ledger,
  isMeterDown: () => boolean,
): Faults {
  const { databaseUrl } = config;
  return new Faults({
    clock,
    isMeterDown,
    readOutages: () => ledger.alarms.outages(),
    recordOutage: (number) => ledger.alarms.recordOutage(number),
    isSound: () =>
      isPostgres(databaseUrl) ? isPostgresSound(databaseUrl, clock) : isSqliteSound(sqlitePath(databaseUrl)),
  });
}
