import { QuotaEventReporter } from '../gate/quota-events.ts';
import { AlarmPoster } from '../ops/alarm-poster.ts';
import { AlarmReporter } from '../ops/alarm-reporter.ts';
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

/** A stop waits this long for posts to the webhook, whose receiver may hang. */
const POSTS_STOP_MS_MAX = 1_000;

/** The background jobs. */
export interface Loops {
  /** Follows the ledger now, instead of at the next interval. */
  follow(): Promise<void>;
  /** Starts to watch the certificate's files. */
  watchCertificate(check: () => Promise<void>): void;
  stop(): Promise<void>;
}

export function startLoops(core: Core, clock: Clock, log: Log): Loops {
  const stopping = new AbortController();
  const poster = createAlarmPoster(core, clock, log, stopping.signal);
  const reporter = new AlarmReporter({ current: () => core.alarms(), clock, log, poster });
  // Separate loops: quota events wait for the ledger, and alarms must not.
  const alarms = repeatEvery(ALARMS_EVERY_MS, async () => reporter.run());
  const quotaReporter = new QuotaEventReporter(core.ledger, log, core.webhook, stopping.signal);
  const quotaEvents = repeatEvery(QUOTA_EVENTS_EVERY_MS, () =>
    quotaReporter.run().catch(logFailure(log, 'quota events could not be reported')),
  );
  const follower = repeatEvery(FOLLOW_EVERY_MS, followLedger(core, log));
  const traffic = repeatEvery(TRAFFIC_EVERY_MS, async () => core.api.traffic.sample());
  const keyUses = repeatEvery(KEY_USES_EVERY_MS, () =>
    core.keyUses.flushDue(performance.now()).catch(logFailure(log, 'uses of keys could not be written')),
  );
  const jobs: RepeatingJob[] = [alarms, quotaEvents, follower, traffic, keyUses];
  return {
    follow: () => follower.runNow(),
    watchCertificate: (check) => void jobs.push(repeatEvery(CERTIFICATE_EVERY_MS, check)),
    async stop() {
      const giveUp = setTimeout(() => stopping.abort(), POSTS_STOP_MS_MAX);
      await Promise.all(jobs.map((job) => job.stop()));
      await poster?.settled();
      clearTimeout(giveUp);
    },
  };
}

function createAlarmPoster(
  { faults, ledger, unstoredPosts: unstored, webhook }: Core,
  clock: Clock,
  log: Log,
  signal: AbortSignal,
): AlarmPoster | undefined {
  if (!webhook) return undefined;
  const { alarms: store, replicas } = ledger;
  const isStoreReachable = () => faults.ledger.outage === undefined;
  return new AlarmPoster({ store, replicas, unstored, isStoreReachable, webhook, signal, clock, log });
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
