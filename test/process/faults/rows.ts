import { ABUSE_ROWS } from './abuse/abuse-rows.ts';
import { clockSet } from './clocks/clock-set.ts';
import { monthEnd } from './clocks/month-end.ts';
import { pause } from './clocks/pause.ts';
import { cutCommit } from './crashes/cut-commit.ts';
import { cutFiles } from './crashes/cut-files.ts';
import { diskFull } from './crashes/disk-full.ts';
import { killPostgres } from './crashes/kill-postgres.ts';
import { killSqlite } from './crashes/kill-sqlite.ts';
import { FAILOVER_ROWS } from './failover/failover-rows.ts';
import { badFeeds } from './feeds/bad-feeds.ts';
import { lateFeed } from './feeds/late-feed.ts';
import { races } from './feeds/races.ts';
import { secrets } from './feeds/secrets.ts';
import { corruptPage } from './outages/corrupt-page.ts';
import { feedsFailing } from './outages/feeds-failing.ts';
import { ledgerUnreachable } from './outages/ledger-unreachable.ts';
import { REPLICA_ROWS } from './outages/replica-rows.ts';
import type { Row } from './row.ts';
import { soak } from './soak.ts';

/** By kind. Each kind is tested in a file of its own in tests/, so that they can run in parallel. */
export const ROW_GROUPS = {
  crashes: [killSqlite, killPostgres, cutCommit, diskFull, cutFiles],
  clocks: [clockSet, monthEnd, pause],
  feeds: [badFeeds, lateFeed, races, secrets],
  outages: [ledgerUnreachable, corruptPage, feedsFailing],
  replicas: REPLICA_ROWS,
  failover: FAILOVER_ROWS,
  abuse: ABUSE_ROWS,
  soak: [soak],
} as const satisfies Record<string, readonly Row[]>;

/** Every row of docs/reliability.md, in its order. */
export const ROWS: readonly Row[] = Object.values(ROW_GROUPS).flat();
