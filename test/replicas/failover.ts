import { periodOf } from '../../src/ledger/quota/period.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { PostgresServer } from '../support/replication/postgres-server.ts';
import type { ReplicatedPostgres } from '../support/replication/replicated-postgres.ts';
import { type Cluster, PATH } from './cluster.ts';
import { crowd } from './crowd.ts';
import { type Outage, outage, NEW_PRICE as PRICE } from './outage.ts';
import { push } from './spread.ts';

export interface FailoverOptions {
  quota: number;
  /** How long the standby is cut off before the primary is killed. What is written in this time is lost. */
  lostMs: number;
  /** From the kill to the promotion. */
  awayMs: number;
}

/** The outcome of killing the primary under load and promoting its standby. */
export interface Failover {
  /** The requests of an account that never exhausts its quota. */
  large: Outage;
  /** An account whose clients send more requests than its quota allows, before, during and after the failover. */
  small: { quota: number; answered: number; used: number };
  /** Units of the small quota that were leased in the lost seconds. */
  grantedInLostSeconds: number;
  /** Ticks that were acknowledged, and how many of them are in the ledger. */
  ticks: { acknowledged: number; kept: number };
  /** The health that each replica reports at the end. */
  health: string[];
  /** Transactions that wrote to the old primary after its restart. */
  writesToOldPrimary: number;
  wrong: string[];
}

/** Longer than the interval at which replicas probe all hosts. */
const OLD_PRIMARY_MS = 7_000;

export async function failover(
  cluster: Cluster,
  postgres: ReplicatedPostgres,
  { quota, lostMs, awayMs }: FailoverOptions,
): Promise<Failover> {
  const { id, key } = await cluster.newAccount(quota);
  await postgres.caughtUp();
  const stop = new AbortController();
  const ticks = tickUntil(cluster, stop.signal);
  const asking = crowd({
    urls: cluster.urls,
    path: PATH,
    key,
    connections: 1,
    pauseMs: 30,
    until: stop.signal,
  });
  let grantedBefore = 0;
  const large = await outage(cluster, awayMs, {
    async begin() {
      if (lostMs > 0) {
        await postgres.stopStreaming();
        grantedBefore = await grantedUnits(postgres.standby, id);
        await Bun.sleep(lostMs);
      }
      await postgres.primary.end('SIGKILL');
    },
    end: () => postgres.promote(),
  });
  stop.abort();
  const [received, acknowledged] = [await asking, await ticks];
  const rest = {
    urls: cluster.urls,
    path: PATH,
    key,
    connections: 4,
    retries503: true,
    requests: quota + 500,
  };
  const answered = received.count(200) + (await crowd(rest)).count(200);
  const used = await cluster.usedOf(id);
  for (const url of cluster.urls) await push(url, PRICE); // the feed thread has to reconnect, too
  const wrong = await cluster.wrongCounts();
  await postgres.primary.start();
  const grantedAfter = await grantedUnits(postgres.primary, id);
  return {
    large,
    small: { quota, answered, used },
    grantedInLostSeconds: lostMs > 0 ? grantedAfter - grantedBefore : 0,
    ticks: { acknowledged: acknowledged.length, kept: await countTicks(cluster, acknowledged) },
    writesToOldPrimary: await writesTo(postgres.primary, cluster),
    health: await Promise.all(cluster.urls.map(healthOf)),
    wrong,
  };
}

/** The violated guarantees. Whatever is lost, counts are exact, and answers over the quota are bounded by what was leased. */
export function faultsOf(outcome: Failover, isSynchronous: boolean): string[] {
  const { large, small, ticks, grantedInLostSeconds } = outcome;
  const faults = [...outcome.wrong, ...large.wrong];
  const isExact = large.answered === large.used && small.answered === small.used;
  if (!isExact) {
    faults.push(
      `${large.answered} and ${small.answered} were answered, ${large.used} and ${small.used} counted`,
    );
  }
  if (Object.keys(large.unexpected).length > 0)
    faults.push(`unexpected answers: ${JSON.stringify(large.unexpected)}`);
  if (small.answered < small.quota || small.answered > small.quota + grantedInLostSeconds) {
    faults.push(
      `${small.answered} of ${small.quota} answered, ${grantedInLostSeconds} leased in lost seconds`,
    );
  }
  if (isSynchronous && ticks.kept !== ticks.acknowledged) {
    faults.push(`${ticks.kept} of ${ticks.acknowledged} acknowledged ticks are in the ledger`);
  }
  for (const health of outcome.health) if (health !== 'ready') faults.push(`a replica is ${health}`);
  if (outcome.writesToOldPrimary > 0)
    faults.push(`the old primary was written to ${outcome.writesToOldPrimary} times`);
  return faults;
}

/** `ready`, or the status and the active alarms, those of feeds and followers included. */
async function healthOf(url: string): Promise<string> {
  const { status, alarms } = (await (await fetch(`${url}/health`)).json()) as {
    status: string;
    alarms: string[];
  };
  return [status, ...alarms].join(' ');
}

/** Appends ticks until stopped. Returns the ids of those that were acknowledged. */
async function tickUntil(cluster: Cluster, until: AbortSignal): Promise<string[]> {
  const acknowledged: string[] = [];
  while (!until.aborted) {
    await cluster.tick(30, 'XAG').then(
      (id) => acknowledged.push(id),
      () => {}, // not acknowledged
    );
    await Bun.sleep(50);
  }
  return acknowledged;
}

async function countTicks(cluster: Cluster, ids: readonly string[]): Promise<number> {
  const rows = await cluster.ledger.engine.read`SELECT tick_id FROM tick`;
  const known = new Set(rows.map((row) => row.tick_id));
  return ids.filter((id) => known.has(id)).length;
}

async function grantedUnits(server: PostgresServer, accountId: string): Promise<number> {
  const [row] = await server.query(
    `SELECT granted FROM quota_period WHERE account_id = '${accountId}' AND period = ${periodOf(systemClock.now())}`,
  );
  return Number(row?.granted ?? 0);
}

/** Transactions of the service on a server, while an account is used on every replica. */
async function writesTo(server: PostgresServer, cluster: Cluster): Promise<number> {
  const { key } = await cluster.newAccount(1_000_000);
  const before = await lastTransaction(server);
  const until = AbortSignal.timeout(OLD_PRIMARY_MS);
  await crowd({ urls: cluster.urls, path: PATH, key, connections: 1, pauseMs: 20, until });
  return (await lastTransaction(server)) - before;
}

/** Only transactions that write take an id. */
async function lastTransaction(server: PostgresServer): Promise<number> {
  const [row] = await server.query(`SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS id`);
  return Number(row!.id);
}
