import { readFileSync } from 'node:fs';
import { Client } from '../support/http/client.ts';
import { percentile } from '../support/percentile.ts';
import { eventually } from '../support/program.ts';
import { type Cluster, PATH } from './cluster.ts';
import { crowd } from './crowd.ts';

export interface Outage {
  awayMs: number;
  /** How long requests were answered from memory after the outage began. */
  servedMs: number;
  /** Answers during the outage, by status. */
  during: Record<string, number>;
  /** From the end of the outage until every replica answered known and unknown keys, with a price written after the outage. */
  recoveryMs: number;
  answered: number;
  used: number;
  unexpected: Record<string, number>;
  /** The 99th percentile of the latency of successful requests, before and during the outage. */
  p99Ms: { before: number; during: number };
  /** The highest latency of a refusal during the outage. */
  refusalMsMax: number;
  /** How much the replicas' memory grew during the outage. */
  grownMb: number;
  wrong: string[];
}

/** Makes the ledger unreachable, and reachable again. */
export interface LedgerFault {
  begin(): Promise<void>;
  end(): Promise<void>;
}

/** Two clients of each replica with this pause send up to 100 requests a second, so that a leased block lasts for seconds. */
const CONNECTIONS = 2;
const PAUSE_MS = 20;
const BEFORE_MS = 3_000;
/** The price that is written after the outage. */
export const NEW_PRICE = 123;
/** The longest wait for the recovery. Promised are 5 s; a test reports what took longer. */
const RECOVERY_MS_MAX = 60_000;

/** Makes the ledger unreachable for a while, under load. */
export async function outage(cluster: Cluster, awayMs: number, ledger: LedgerFault): Promise<Outage> {
  await waitForEarlierOutage(cluster);
  const { id, key } = await cluster.newAccount(10_000_000);
  const cold = await cluster.newAccount(10_000);
  const stop = new AbortController();
  const start = performance.now();
  const asking = crowd({
    urls: cluster.urls,
    path: PATH,
    key,
    connections: CONNECTIONS,
    pauseMs: PAUSE_MS,
    until: stop.signal,
  });
  await Bun.sleep(BEFORE_MS);
  const memoryBefore = memoryMb(cluster);
  await ledger.begin();
  const gone = performance.now();
  await Bun.sleep(awayMs);
  const grownMb = memoryMb(cluster) - memoryBefore;
  const ending = performance.now();
  await ledger.end();
  const back = performance.now();
  await waitUntilRecovered(cluster, cold.key);
  const recoveredAt = performance.now();
  await Bun.sleep(1_000);
  stop.abort();
  const received = await asking;
  const during = received.between(gone, ending);
  const served = during.filter(({ answer }) => answer === 200);
  const refused = during.filter(({ answer }) => answer !== 200);
  const lastRefusedAt = received.answers.findLast(({ answer }) => answer !== 200)?.at ?? 0;
  return {
    awayMs: back - gone,
    servedMs: (served.at(-1)?.at ?? gone) - gone,
    during: countBy(during.map(({ answer }) => String(answer))),
    recoveryMs: Math.max(recoveredAt, lastRefusedAt) - back,
    answered: received.count(200),
    used: await cluster.usedOf(id),
    unexpected: received.unexpected,
    p99Ms: {
      before: percentile(
        received.between(start + BEFORE_MS / 3, gone).map(({ ms }) => ms),
        0.99,
      ),
      during: percentile(
        served.map(({ ms }) => ms),
        0.99,
      ),
    },
    refusalMsMax: Math.max(0, ...refused.map(({ ms }) => ms)),
    grownMb,
    wrong: await cluster.wrongCounts(),
  };
}

/** The violated guarantees. None of them depends on the speed of the machine. */
export function faultsOf({ answered, used, unexpected, servedMs, wrong }: Outage): string[] {
  const faults = [...wrong];
  if (answered !== used) faults.push(`${answered} were answered and ${used} counted`);
  if (Object.keys(unexpected).length > 0) faults.push(`unexpected answers: ${JSON.stringify(unexpected)}`);
  if (servedMs < 1_000) faults.push(`answers from memory ended after ${servedMs.toFixed(0)} ms`);
  return faults;
}

/**
 * Waits until an earlier outage is over. Without this, replicas would start with connections that are still hanging: the account would
 * get its first units while the ledger is slow, and each refill of such a small block waits for it.
 */
async function waitForEarlierOutage(cluster: Cluster): Promise<void> {
  const { key } = await cluster.newAccount(10_000);
  await eachReplica(cluster, async (client) => (await client.get(PATH, key)) === 200);
}

/** Waits until every replica answers a key that it has never seen, with a price that was written after the outage. */
async function waitUntilRecovered(cluster: Cluster, key: string): Promise<void> {
  await eventually(
    () =>
      cluster.tick(NEW_PRICE).then(
        () => true,
        () => false,
      ),
    RECOVERY_MS_MAX,
  );
  await eachReplica(
    cluster,
    async (client) =>
      (await client.get(PATH, key)) === 200 && JSON.parse(client.body).rates.XAU === NEW_PRICE,
  );
}

/** Waits until every replica fulfils a condition. */
async function eachReplica(
  cluster: Cluster,
  isFulfilled: (client: Client) => Promise<boolean>,
): Promise<void> {
  await Promise.all(
    cluster.urls.map(async (url) => {
      const client = new Client(url);
      await eventually(() => isFulfilled(client), RECOVERY_MS_MAX);
      client.close();
    }),
  );
}

function memoryMb(cluster: Cluster): number {
  const kb = cluster.replicas.programs.map(({ pid }) =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]),
  );
  return kb.reduce((sum, one) => sum + one, 0) / 1024;
}

function countBy(words: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length]));
}
