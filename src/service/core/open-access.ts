import { join } from 'node:path';
import { BurstLimits } from '../../gate/burst/burst-limits.ts';
import { Gate } from '../../gate/gate.ts';
import { Meter } from '../../gate/meter/meter.ts';
import { KeyUses } from '../../gate/statistics/key-uses.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { isPostgres } from '../../ledger/open-engine.ts';
import type { Faults } from '../../ops/faults.ts';
import type { Caches } from '../../ops/gauges/cache-gauges.ts';
import { createFaults } from './open-ledger.ts';
import type { CoreSetup } from './setup.ts';

/** How long settled counts stay in the spool, to be reported again to a PostgreSQL that failed over and lost its last writes. */
const KEEP_SETTLED_MS = 60_000;
/**
 * SQLite and the spool are on one disk: counts that are only in the spool are as safe, and /usage includes them. A report takes
 * longer than a request, so customers with a request a minute must not be reported after each of them.
 */
const SQLITE_FLUSH_MS = 300_000;
/** SQLite runs on the thread that serves requests: a transaction of this size takes it about 3 ms, in several turns. */
const SQLITE_BATCH_MAX = 64;

/** Decides who may call, and counts what they use. */
export interface Access {
  /** The burst limits of this machine. */
  readonly burst: BurstLimits;
  readonly gate: Gate;
  readonly faults: Faults;
  readonly meter: Meter;
  readonly keyUses: KeyUses;
}

export async function openAccess(
  setup: CoreSetup,
  ledger: Ledger,
  replica: string,
  caches: Caches,
): Promise<Access> {
  const { config, clock, opened } = setup;
  const burst = new BurstLimits(join(config.dataDir, 'burst'));
  const gate = await Gate.open({
    ledger,
    clock,
    burst,
    failedKeysPerMinute: config.failedKeysPerMinute,
    isPublic: config.publicPlan !== undefined,
    keyBytesMax: caches.bytesMax('keys'),
    failedKeys: caches.failedKeys,
  });
  const faults = createFaults(config, clock, ledger, () => meter.failure);
  opened.defer(() => faults.stop());
  const meter = await openMeter(setup, ledger, replica, faults);
  opened.defer(() => meter.close());
  const keyUses = new KeyUses(ledger.keyUses);
  opened.defer(() => keyUses.flush().catch(() => {}));
  return { burst, gate, faults, meter, keyUses };
}

/** If counting finds a damaged page of the ledger, its warning also raises the alarm about damage. */
function openMeter(
  { config, clock, log }: CoreSetup,
  ledger: Ledger,
  replica: string,
  faults: Faults,
): Promise<Meter> {
  return Meter.open({
    ledger,
    clock,
    replica,
    spoolDir: join(config.dataDir, 'spool'),
    // SQLite and the spool are on one disk: neither loses what the other keeps.
    keepSettledMs: isPostgres(config.databaseUrl) ? KEEP_SETTLED_MS : 0,
    ...(!isPostgres(config.databaseUrl) && { flushMs: SQLITE_FLUSH_MS, batchMax: SQLITE_BATCH_MAX }),
    warn: (message) => {
      faults.damage.observe(message);
      log.warn('quota', { message });
    },
  });
}
