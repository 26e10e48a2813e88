import type { ListFeedStatus } from '../api/model/feed-status.ts';
import { isLate, lateSeries } from '../api/model/feed-status.ts';
import type { Webhook } from '../gate/webhook.ts';
import type { AlarmStore } from '../ledger/operations/alarms.ts';
import type { ReportedAlarm } from '../ledger/operations/replicas.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Log, messageOf } from '../runtime/log/log.ts';

/** Something that an operator should see to. */
export interface ActiveAlarm extends ReportedAlarm {
  /** Tells one occasion from the next. At most one of a name is on at a time. */
  about: string;
}

export interface AlarmReporterOptions {
  current(): readonly ActiveAlarm[];
  store: AlarmStore;
  /** Whether the store can be asked: it is in the ledger, and an outage of that is an alarm too. */
  isStoreReachable(): boolean;
  clock: Clock;
  log: Log;
  webhook: Webhook | undefined;
}

/** An alarm that has been logged. */
interface Raised {
  about: string;
  since: number;
  /** What the webhook has not been sent yet. */
  isUnposted: boolean;
}

/** A message for the webhook. `key` and `about` are what the store remembers it by; `id` is for the receiver. */
interface Post {
  key: string;
  about: string;
  id: string;
  event: ActiveAlarm['event'];
}

/** How long a replica has for its post before another may try. */
const CLAIM_MS = 60_000;

/**
 * Reports alarms: in the log of every process when one begins and when it is over, and by one post to the operator's
 * webhook for each, whatever the number of replicas.
 */
export class AlarmReporter {
  readonly #options: AlarmReporterOptions;
  readonly #raised = new Map<string, Raised>();
  /** Posts about alarms that are over, until the webhook has taken them. */
  readonly #overs = new Map<string, Post>();

  constructor(options: AlarmReporterOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const alarms = this.#options.current();
    for (const [name, raised] of this.#raised) {
      if (!alarms.some((alarm) => alarm.name === name)) this.#clear(name, raised);
    }
    for (const alarm of alarms) await this.#raise(alarm);
    for (const [name, post] of this.#overs) {
      if (await this.#post(post)) this.#overs.delete(name);
    }
  }

  async #raise(alarm: ActiveAlarm): Promise<void> {
    const { name, about, event } = alarm;
    const { clock, log, webhook } = this.#options;
    let raised = this.#raised.get(name);
    if (raised?.about !== about) {
      log.error('alarm', { name, ...event });
      const since = raised?.since ?? alarm.since ?? clock.now();
      raised = { about, since, isUnposted: webhook !== undefined };
      this.#raised.set(name, raised);
    }
    if (!raised.isUnposted) return;
    raised.isUnposted = !(await this.#post({ key: name, about, id: `${name}.${about}`, event }));
  }

  #clear(name: string, { about, since, isUnposted }: Raised): void {
    const { clock, log, webhook } = this.#options;
    const seconds = Math.max(0, Math.round((clock.now() - since) / 1_000));
    this.#raised.delete(name);
    log.info('alarm is over', { name, seconds });
    if (!webhook || isUnposted) return; // a receiver that was never told need not hear of the end
    const event = { type: 'alarm.over', alarm: name, seconds };
    this.#overs.set(name, { key: `${name} over`, about, id: `${name}.${about}.over`, event });
  }

  /** Whether it has been posted, by this replica or by another. */
  async #post({ key, about, id, event }: Post): Promise<boolean> {
    const { log, webhook } = this.#options;
    const claim = await this.#claim(key, about);
    if (claim !== 'mine') return claim === 'told';
    try {
      await webhook!.send(id, event);
    } catch (error) {
      log.warn('webhook failed, and is tried again', { name: key, message: messageOf(error) });
      return false;
    }
    await this.#markTold(key, about);
    return true;
  }

  /** Without the store every replica posts, with the same id: an alarm about the ledger must not wait for the ledger. */
  async #claim(key: string, about: string): Promise<'mine' | 'told' | 'taken'> {
    const { isStoreReachable, store } = this.#options;
    if (!isStoreReachable()) return 'mine';
    return store.claim(key, about, CLAIM_MS).catch(() => 'mine' as const);
  }

  async #markTold(key: string, about: string): Promise<void> {
    const { isStoreReachable, store } = this.#options;
    if (isStoreReachable()) await store.told(key, about).catch(() => {}); // then it is posted twice, with the same id
  }
}

/** Feeds that have missed their schedule twice. */
export function lateFeeds(feeds: ListFeedStatus, clock: Clock): ActiveAlarm[] {
  return feeds()
    .filter((feed) => isLate(feed, clock.now()))
    .map(({ key, lateAt, lastOkAt, failures, lastRun }) => ({
      name: `feed.late.${key}`,
      about: String(lateAt),
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

/** Feeds that run, and of which some series have failed for as long as it takes a feed to be late. */
export function lateFeedSeries(feeds: ListFeedStatus, clock: Clock): ActiveAlarm[] {
  return feeds().flatMap((feed) => {
    const late = lateSeries(feed, clock.now());
    if (late.length === 0) return [];
    const series = late.map((one) => one.series).sort();
    const first = late[0]!;
    return {
      name: `feed.series_late.${feed.key}`,
      about: series.join(' '),
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

/** A disk with so little room that no prices are taken in. */
export function fullDisk(hasDiskSpace: () => boolean, clock: Clock): ActiveAlarm[] {
  if (hasDiskSpace()) return [];
  // One occasion a day: a disk that goes over the line and back is not news every time.
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  return [{ name: 'disk.full', about: day, event: { type: 'disk.full', intake: 'stopped' } }];
}
