import { hostname } from 'node:os';
import type { ListFeedStatus } from '../api/model/feed-status.ts';
import { isLate, lateSeries } from '../api/model/feed-status.ts';
import type { ReportedAlarm } from '../ledger/operations/replicas.ts';
import type { Clock } from '../runtime/clock.ts';

/** A condition that needs an operator's attention. */
export interface ActiveAlarm extends ReportedAlarm {
  /** The same on all replicas that have this alarm. If it changes while the alarm goes on, the alarm is reported again. */
  version?: string;
}

/** A disk that is too full to accept prices. */
export interface FullDisk {
  /** In words. */
  disk: string;
  /** Whether it is a disk of this machine. */
  isLocal: boolean;
}

/** Feeds that have missed their schedule twice. */
export function lateFeeds(feeds: ListFeedStatus, clock: Clock): ActiveAlarm[] {
  return feeds()
    .filter((feed) => isLate(feed, clock.now()))
    .map(({ key, lateAt, lastOkAt, failures, lastRun }) => ({
      name: `feed.late.${key}`,
      version: String(lateAt),
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
      version: series.join(' '),
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

export function fullDisk(diskToFree: () => FullDisk | undefined): ActiveAlarm[] {
  const full = diskToFree();
  if (!full) return [];
  const { disk, isLocal } = full;
  const type = 'disk.full';
  const subject = isLocal ? { machine: hostname() } : {};
  const advice = `free space on ${disk}; prices are then accepted again without a restart`;
  return [{ name: type, subject, event: { type, ...subject, intake: 'stopped', advice } }];
}

/** A local disk that cannot hold new files. Those that exist can be written, so prices are accepted. */
export function fewInodes(diskWithFewInodes: () => string | undefined): ActiveAlarm[] {
  const disk = diskWithFewInodes();
  if (disk === undefined) return [];
  const type = 'disk.inodes';
  const subject = { machine: hostname() };
  const advice = `delete files on ${disk}, which has space but hardly any inodes for new files (see df -i)`;
  return [{ name: type, subject, event: { type, ...subject, advice } }];
}
