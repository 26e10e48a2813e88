import type { FeedRun } from '../../ledger/operations/feed-runs.ts';
import { basicsOf, coverageOf, time } from '../endpoints/catalog/feed-record.ts';
import { refuse } from '../errors/errors.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import type { FeedAdminPort, FeedReport } from '../model/feed-status.ts';
import { adminEndpoint } from './admin-endpoint.ts';
import { FEED_ADDRESSES, FEED_CHANGE } from './bodies.ts';
import { FEED_RUN_REQUEST } from './prices/bodies.ts';
import { orConflict } from './service/maintenance.ts';
import type { OperatorJobs } from './service/operator-jobs.ts';

/** How many reasons and notes are listed per run; `openpit feed history --json` lists more. */
const LISTED_MAX = 5;

/** /admin/feeds: every feed with its health, runs and addresses; turns feeds on and off, runs and probes them. /admin/sample loads the bundle. */
export function adminFeeds(feedAdmin: FeedAdminPort, jobs: OperatorJobs): AdminEndpoint[] {
  return [
    adminEndpoint('/admin/feeds', {
      async GET({ now }) {
        return { success: true, feeds: (await feedAdmin.list(now)).map(record) };
      },
    }),
    adminEndpoint('/admin/sample', {
      async POST({ ledger }) {
        await feedAdmin.requestSample(ledger);
        return { success: true, requested: true };
      },
    }),
    adminEndpoint('/admin/feeds/:id/run', {
      async POST({ id: key, ledger, body }) {
        const { accept } = await body(FEED_RUN_REQUEST);
        if (!(await feedAdmin.requestRun(ledger, key, accept))) {
          throw unknownFeed(key);
        }
        return { success: true, key, requested: true };
      },
    }),
    adminEndpoint('/admin/feeds/:id', {
      async PATCH({ id: key, ledger, now, body }) {
        const { enabled } = await body(FEED_CHANGE);
        if (!(await feedAdmin.setEnabled(ledger, key, enabled, now))) {
          throw unknownFeed(key);
        }
        return { success: true, key, enabled };
      },
    }),
    adminEndpoint('/admin/feeds/:id/addresses', {
      async GET({ id: key }) {
        return { success: true, key, addresses: known(key, await feedAdmin.addresses(key)) };
      },
      async PUT({ id: key, ledger, body }) {
        const { addresses } = await body(FEED_ADDRESSES);
        const outcome = known(key, await feedAdmin.setAddresses(ledger, key, addresses));
        if ('problem' in outcome) throw refuse('invalid_body', { problems: [outcome.problem] });
        return { success: true, key, addresses: outcome };
      },
    }),
    adminEndpoint('/admin/feeds/:id/probe', {
      /** Not GET: it contacts the provider. */
      async POST({ id: key }) {
        known(key, await feedAdmin.addresses(key));
        return { success: true, key, ...(await orConflict(jobs.probeFeed(key))) };
      },
    }),
  ];
}

function known<T>(key: string, found: T | undefined): T {
  if (found === undefined) throw unknownFeed(key);
  return found;
}

function unknownFeed(key: string) {
  return refuse('not_there', { what: 'feed', id: key.slice(0, 64) });
}

function record(feed: FeedReport) {
  const { late, schedule, zone, symbols, series, lacking, failures } = feed;
  return {
    ...basicsOf(feed),
    health: healthOf(feed),
    late,
    failures,
    schedule,
    zone,
    symbols,
    series,
    lacking,
    runBy: feed.holder ?? null,
    lastOkAt: time(feed.lastOkAt),
    nextRunAt: time(feed.nextRunAt),
    lateAt: time(feed.lateAt),
    failing: feed.failing.map((one) => ({ ...one, since: time(one.since), lateAt: time(one.lateAt) })),
    ...coverageOf(feed),
    runs: feed.runs.map(runRecord),
  };
}

/** The worst condition that applies. */
function healthOf({ enabled, late, failures, failing, lastOkAt }: FeedReport) {
  if (!enabled) return 'off';
  if (late) return 'late';
  if (failures > 0) return 'failing';
  if (failing.length > 0) return 'partial';
  return lastOkAt === undefined ? 'waiting' : 'ok';
}

function runRecord(run: FeedRun) {
  const { number, status, message, requests, bytes, taken, corrected, unchanged, missing, refused } = run;
  return {
    number,
    startedAt: time(run.started),
    endedAt: time(run.ended),
    status,
    message: message ?? null,
    requests,
    bytes,
    taken,
    corrected,
    unchanged,
    missing,
    refused,
    odd: run.odd,
    ignored: run.ignored,
    held: run.held,
    withdrawn: run.withdrawn,
    reasons: run.reasons.slice(0, LISTED_MAX),
    notes: run.notes.slice(0, LISTED_MAX),
  };
}
