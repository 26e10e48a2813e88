import { ABUSE_ROWS } from './abuse-rows.ts';
import { badFeeds } from './bad-feeds.ts';
import { clockSet } from './clock-set.ts';
import { cutCommit } from './cut-commit.ts';
import { cutFiles } from './cut-files.ts';
import { diskFull } from './disk-full.ts';
import { FAILOVER_ROWS } from './failover/failover-rows.ts';
import { killPostgres } from './kill-postgres.ts';
import { killSqlite } from './kill-sqlite.ts';
import { lateFeed } from './late-feed.ts';
import { monthEnd } from './month-end.ts';
import { corruptPage } from './outages/corrupt-page.ts';
import { feedsFailing } from './outages/feeds-failing.ts';
import { ledgerUnreachable } from './outages/ledger-unreachable.ts';
import { pause } from './pause.ts';
import { races } from './races.ts';
import { REPLICA_ROWS } from './replica-rows.ts';
import type { Row } from './row.ts';
import { secrets } from './secrets.ts';
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
