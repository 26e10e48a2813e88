import type { FeedsKnown } from './api/feeds-known.ts';
import { isLate, lateSeries } from './api/feeds-known.ts';
import type { Clock } from './clock.ts';
import type { Webhook } from './gate/webhook.ts';
import type { AlarmStore } from './ledger/alarms.ts';
import { type Log, messageOf } from './log.ts';

/** Something that an operator should see to. */
export interface Alarm {
  /** Such as `feed.late.fred`: at most one of a name at a time. */
  name: string;
  /** Tells one occasion from the next. */
  about: string;
  /** What is posted; its `type` says what kind it is. */
  event: Readonly<Record<string, string | number>> & { type: string };
}

/** How long a replica has for its post before another may try. */
const CLAIM_MS = 60_000;

/**
 * Tells alarms: in the log of every process when one begins and when it is over, and by one post to the operator's webhook,
 * whatever the number of replicas.
 */
export class Alarms {
  readonly #current: () => readonly Alarm[];
  readonly #store: AlarmStore;
  readonly #log: Log;
  readonly #webhook: Webhook | undefined;
  /** What has been logged, by name; whether it still has to be posted. */
  readonly #known = new Map<string, { about: string; posting: boolean }>();

  constructor(current: () => readonly Alarm[], store: AlarmStore, log: Log, webhook: Webhook | undefined) {
    this.#current = current;
    this.#store = store;
    this.#log = log;
    this.#webhook = webhook;
  }

  async turn(): Promise<void> {
    const alarms = this.#current();
    for (const name of this.#known.keys()) {
      if (alarms.some((alarm) => alarm.name === name)) continue;
      this.#known.delete(name);
      this.#log.info('alarm is over', { name });
    }
    for (const alarm of alarms) await this.#tell(alarm);
  }

  async #tell(alarm: Alarm): Promise<void> {
    const { name, about, event } = alarm;
    let known = this.#known.get(name);
    if (known?.about !== about) {
      this.#log.error('alarm', { name, ...event });
      known = { about, posting: this.#webhook !== undefined };
      this.#known.set(name, known);
    }
    if (known.posting) known.posting = !(await this.#post(alarm));
  }

  /** Whether it has been posted, by this replica or by another. */
  async #post({ name, about, event }: Alarm): Promise<boolean> {
    // A ledger that cannot be written to must not keep an alarm back: then every replica posts it, with the same id.
    const claim = await this.#store.claim(name, about, CLAIM_MS).catch(() => 'mine' as const);
    if (claim !== 'mine') return claim === 'told';
    try {
      await this.#webhook!.send(`${name}.${about}`, event);
    } catch (error) {
      this.#log.warn('webhook failed, and is tried again', { name, message: messageOf(error) });
      return false;
    }
    await this.#store.told(name, about).catch(() => {}); // then it is posted twice, with the same id
    return true;
  }
}

/** Feeds that have missed their schedule twice. */
export function lateFeeds(feeds: FeedsKnown, clock: Clock): Alarm[] {
  return feeds()
    .filter((feed) => isLate(feed, clock.now()))
    .map(({ key, lateAt, lastOkAt, failures, lastRun }) => ({
      name: `feed.late.${key}`,
      about: String(lateAt),
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
export function lateFeedSeries(feeds: FeedsKnown, clock: Clock): Alarm[] {
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
export function fullDisk(hasRoom: () => boolean, clock: Clock): Alarm[] {
  if (hasRoom()) return [];
  // One occasion a day: a disk that goes over the line and back is not news every time.
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  return [{ name: 'disk.full', about: day, event: { type: 'disk.full', intake: 'stopped' } }];
}
