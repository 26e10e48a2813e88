import type { ListFeedStatus } from '../api/model/feed-status.ts';
import { isLate, lateSeries } from '../api/model/feed-status.ts';
import type { Webhook } from '../gate/webhook.ts';
import type { AlarmStore } from '../ledger/operations/alarms.ts';
import type { ReportedAlarm } from '../ledger/operations/replicas.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Log, messageOf } from '../runtime/log/log.ts';

/** A condition that needs an operator's attention. */
export interface ActiveAlarm extends ReportedAlarm {
  /** Distinguishes one occurrence from the next. At most one alarm of a name is active at a time. */
  occurrence: string;
}

export interface AlarmReporterOptions {
  current(): readonly ActiveAlarm[];
  store: AlarmStore;
  /** Whether the store can be used: it is in the ledger, whose outage is an alarm too. */
  isStoreReachable(): boolean;
  clock: Clock;
  log: Log;
  webhook: Webhook | undefined;
}

/** An alarm that has been logged. */
interface RaisedAlarm {
  occurrence: string;
  /** The occurrence that is active now: another one if it ended and returned at once. */
  latest: string;
  since: number;
  /** When it ended, while it may still return. */
  endedAt: number | undefined;
  /** Whether the webhook still has to be sent it. */
  isUnposted: boolean;
}

/** A message for the webhook. The store knows it by `key` and `occurrence`, the receiver by `id`. */
interface Post {
  key: string;
  occurrence: string;
  id: string;
  event: ActiveAlarm['event'];
}

/** An alarm is over after this time without it. The end of an outage, for example, can be followed by a few more failures. */
const OVER_AFTER_MS = 5_000;

/** How long a replica may take for a post before another one may try. */
const CLAIM_MS = 60_000;

/**
 * Reports when an alarm begins and ends: in the log of every process, and by one post each to the operator's webhook,
 * however many replicas there are.
 */
export class AlarmReporter {
  readonly #options: AlarmReporterOptions;
  readonly #raised = new Map<string, RaisedAlarm>();
  /** Posts about alarms that have ended, until the webhook has accepted them. */
  readonly #endings = new Map<string, Post>();

  constructor(options: AlarmReporterOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const alarms = this.#options.current();
    const now = this.#options.clock.now();
    for (const [name, raised] of this.#raised) {
      if (alarms.some((alarm) => alarm.name === name)) continue;
      raised.endedAt ??= now;
      if (now - raised.endedAt >= OVER_AFTER_MS) this.#clear(name, raised);
    }
    for (const alarm of alarms) await this.#raise(alarm);
    for (const [name, post] of this.#endings) {
      if (await this.#post(post)) this.#endings.delete(name);
    }
  }

  async #raise(alarm: ActiveAlarm): Promise<void> {
    const { name, occurrence, event } = alarm;
    const { clock, log, webhook } = this.#options;
    let raised = this.#raised.get(name);
    const hasReturned = raised?.endedAt !== undefined;
    if (!raised || (raised.latest !== occurrence && !hasReturned)) {
      log.error('alarm', { name, ...event });
      const since = raised?.since ?? alarm.since ?? clock.now();
      const isUnposted = webhook !== undefined;
      raised = { occurrence, latest: occurrence, since, endedAt: undefined, isUnposted };
      this.#raised.set(name, raised);
    }
    raised.latest = occurrence;
    raised.endedAt = undefined;
    if (!raised.isUnposted) return;
    const id = `${name}.${raised.occurrence}`;
    raised.isUnposted = !(await this.#post({ key: name, occurrence: raised.occurrence, id, event }));
  }

  #clear(name: string, { occurrence, since, endedAt, isUnposted }: RaisedAlarm): void {
    const { log, webhook } = this.#options;
    const seconds = Math.max(0, Math.round((endedAt! - since) / 1_000));
    this.#raised.delete(name);
    log.info('alarm is over', { name, seconds });
    if (!webhook || isUnposted) return; // a receiver that never got the alarm does not need its end
    const event = { type: 'alarm.over', alarm: name, seconds };
    this.#endings.set(name, { key: `${name} over`, occurrence, id: `${name}.${occurrence}.over`, event });
  }

  /** Whether it has been posted, by this replica or by another. */
  async #post({ key, occurrence, id, event }: Post): Promise<boolean> {
    const { log, webhook } = this.#options;
    const claim = await this.#claim(key, occurrence);
    if (claim !== 'claimed') return claim === 'delivered';
    try {
      await webhook!.send(id, event);
    } catch (error) {
      log.warn('webhook failed, will be retried', { name: key, message: messageOf(error) });
      return false;
    }
    await this.#markSent(key, occurrence);
    return true;
  }

  /** Without the store every replica posts, with the same id: an alarm about the ledger must not wait for the ledger. */
  async #claim(key: string, occurrence: string): Promise<'claimed' | 'delivered' | 'taken'> {
    const { isStoreReachable, store } = this.#options;
    if (!isStoreReachable()) return 'claimed';
    return store.claim(key, occurrence, CLAIM_MS).catch(() => 'claimed' as const);
  }

  async #markSent(key: string, occurrence: string): Promise<void> {
    const { isStoreReachable, store } = this.#options;
    if (isStoreReachable()) await store.markDelivered(key, occurrence).catch(() => {}); // if this fails it is posted twice, with the same id
  }
}

/** Feeds that have missed their schedule twice. */
export function lateFeeds(feeds: ListFeedStatus, clock: Clock): ActiveAlarm[] {
  return feeds()
    .filter((feed) => isLate(feed, clock.now()))
    .map(({ key, lateAt, lastOkAt, failures, lastRun }) => ({
      name: `feed.late.${key}`,
      occurrence: String(lateAt),
      since: lateAt!,
      event: {
        type: 'feed.late',
        feed: key,
        lateSince: new Date(lateAt!).toISOString(),
        lastOkAt: lastOkAt === undefined ? 'never' : new Date(lastOkAt).toISOString(),
        failures,
        lastRun: lastRun === undefined ? 'never' : lastRun.status,
      },
    }));
}

/** Feeds that run while some of their series have failed for longer than a feed may be late. */
export function lateFeedSeries(feeds: ListFeedStatus, clock: Clock): ActiveAlarm[] {
  return feeds().flatMap((feed) => {
    const late = lateSeries(feed, clock.now());
    if (late.length === 0) return [];
    const series = late.map((one) => one.series).sort();
    const first = late[0]!;
    return {
      name: `feed.series_late.${feed.key}`,
      occurrence: series.join(' '),
      event: {
        type: 'feed.series_late',
        feed: feed.key,
        series: series.join(', '),
        symbols: late.map(({ symbol }) => symbol).join(', '),
        failingSince: new Date(Math.min(...late.map(({ since }) => since))).toISOString(),
        reason: `${first.series}: ${first.reason}`,
      },
    };
  });
}

/** A disk that is too full to accept prices. `diskToFree` names it in words. */
export function fullDisk(diskToFree: () => string | undefined, clock: Clock): ActiveAlarm[] {
  const disk = diskToFree();
  if (disk === undefined) return [];
  // One occurrence per day: a disk that hovers around the limit must not alert every time.
  const occurrence = new Date(clock.now()).toISOString().slice(0, 10);
  const advice = `free space on ${disk}; prices are then accepted again without a restart`;
  return [{ name: 'disk.full', occurrence, event: { type: 'disk.full', intake: 'stopped', advice } }];
}
