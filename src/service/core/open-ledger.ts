import type { Config } from '../../config.ts';
import type { LedgerLatency } from '../../ledger/engine/latency.ts';
import { openWhenReachable } from '../../ledger/engine/postgres/open-when-reachable.ts';
import { lackingPrivileges } from '../../ledger/inspection/postgres-facts.ts';
import { isPostgresSound } from '../../ledger/inspection/postgres-integrity.ts';
import { isSqliteSound } from '../../ledger/inspection/sqlite-integrity.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { isPostgres, sqlitePath } from '../../ledger/open-engine.ts';
import { Faults } from '../../ops/faults.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log/log.ts';

/**
 * Opens the ledger. Waits for a PostgreSQL that is still starting; a SQLite file does not appear later, so
 * there is nothing to wait for.
 */
export function openLedger(config: Config, clock: Clock, log: Log, latency: LedgerLatency): Promise<Ledger> {
  // `info`: repeated warnings are aggregated, and each of these lines shows the progress of the start.
  const onLockWait = (message: string) => log.info('waiting for a lock', { message });
  const open = () => Ledger.open(config.databaseUrl, clock, 'serving', { latency, onLockWait });
  if (!isPostgres(config.databaseUrl)) return open();
  const openChecked = async () => requirePrivileges(await open());
  return openWhenReachable(openChecked, {
    waitMs: config.databaseWaitSeconds * 1_000,
    onWaiting: (message, waitedMs) =>
      log.info('waiting for PostgreSQL', { message, waitedSeconds: Math.round(waitedMs / 1_000) }),
  });
}

/**
 * Without this check, a process with missing privileges would be ready until its first request. A rolling restart, which
 * waits for each process to be ready, would replace all working ones.
 */
async function requirePrivileges(ledger: Ledger): Promise<Ledger> {
  try {
    const lacking = (await lackingPrivileges(ledger.engine.read)).filter(
      ({ table }) => table !== 'migration',
    );
    if (lacking.length === 0) return ledger;
    const [{ table, privileges }] = lacking as [(typeof lacking)[number]];
    const others = lacking.length === 1 ? '' : ` and on ${lacking.length - 1} other tables`;
    throw new Error(
      `the database user lacks privileges on the table ${table} (${privileges.join(', ')})${others}: ` +
        'grant them as docs/operating.md says under "Database privileges"',
    );
  } catch (error) {
    await ledger.close();
    throw error;
  }
}

/** Monitors the ledger, and the work of this process that depends on it. */
export function createFaults(
  config: Config,
  clock: Clock,
  ledger: Ledger,
  meterFailure: () => string | undefined,
): Faults {
  const { databaseUrl } = config;
  return new Faults({
    clock,
    meterFailure,
    readOutages: () => ledger.alarms.outages(),
    recordOutage: (number) => ledger.alarms.recordOutage(number),
    isSound: () =>
      isPostgres(databaseUrl) ? isPostgresSound(databaseUrl, clock) : isSqliteSound(sqlitePath(databaseUrl)),
  });
}
