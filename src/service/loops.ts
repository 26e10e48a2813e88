import { QuotaEventReporter } from '../gate/quota-events.ts';
import { AlarmReporter } from '../ops/alarms.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Log, messageOf } from '../runtime/log/log.ts';
import type { Core } from './core.ts';
import { type RepeatingJob, repeatEvery } from './repeat.ts';

/** Well under the half second within which the writes of another process are promised to be visible. */
const FOLLOW_EVERY_MS = 200;

const QUOTA_EVENTS_EVERY_MS = 2_000;

/** A few samples per minute, to see a lag that passes. */
const TRAFFIC_EVERY_MS = 10_000;

/** A few at a time: writing the uses of all keys at once would keep requests waiting. */
const KEY_USES_EVERY_MS = 100;

/** An outage is noticed within 4 s and reported within 5 s. */
const ALARMS_EVERY_MS = 500;

/** How often the certificate's files are compared with the certificate in use. */
const CERTIFICATE_EVERY_MS = 5_000;

/** The background jobs. */
export interface Loops {
  /** Follows the ledger now, instead of at the next interval. */
  follow(): Promise<void>;
  /** Starts to watch the certificate's files. */
  watchCertificate(check: () => Promise<void>): void;
  stop(): Promise<void>;
}

export function startLoops(core: Core, clock: Clock, log: Log): Loops {
  // Separate loops: quota events wait for the ledger, and alarms must not.
  const alarms = repeatEvery(ALARMS_EVERY_MS, reportAlarms(core, clock, log));
  const quotaEvents = repeatEvery(QUOTA_EVENTS_EVERY_MS, reportQuotaEvents(core, log));
  const follower = repeatEvery(FOLLOW_EVERY_MS, followLedger(core, log));
  const traffic = repeatEvery(TRAFFIC_EVERY_MS, async () => core.api.traffic.sample());
  const keyUses = repeatEvery(KEY_USES_EVERY_MS, () =>
    core.keyUses.flushDue(performance.now()).catch(logFailure(log, 'uses of keys could not be written')),
  );
  const jobs: RepeatingJob[] = [alarms, quotaEvents, follower, traffic, keyUses];
  return {
    follow: () => follower.runNow(),
    watchCertificate: (check) => void jobs.push(repeatEvery(CERTIFICATE_EVERY_MS, check)),
    stop: async () => void (await Promise.all(jobs.map((job) => job.stop()))),
  };
}

function reportAlarms(core: Core, clock: Clock, log: Log): () => Promise<void> {
  const reporter = new AlarmReporter({
    current: () => core.alarms(),
    store: core.ledger.alarms,
    isStoreReachable: () => !core.faults.isLedgerUnusable,
    clock,
    log,
    webhook: core.webhook,
  });
  return () => reporter.run().catch(logFailure(log, 'alarms could not be reported'));
}

function reportQuotaEvents({ ledger, webhook }: Core, log: Log): () => Promise<void> {
  const reporter = new QuotaEventReporter(ledger, log, webhook);
  return () => reporter.run().catch(logFailure(log, 'quota events could not be reported'));
}

function followLedger({ faults, follow }: Core, log: Log): () => Promise<void> {
  return async () => {
    try {
      await follow();
      faults.follower.succeeded();
    } catch (error) {
      faults.follower.failed(messageOf(error));
      faults.damage.observe(error);
      log.warn('the ledger could not be followed', { message: messageOf(error) });
    }
  };
}

function logFailure(log: Log, event: string): (error: unknown) => void {
  return (error) => log.warn(event, { message: messageOf(error) });
}
