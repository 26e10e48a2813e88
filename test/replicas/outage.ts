import { readFileSync } from 'node:fs';
import { Client } from '../support/http/client.ts';
import { eventually } from '../support/program.ts';
import { type Cluster, PATH } from './cluster.ts';
import { crowd, percentile } from './crowd.ts';

export interface Outage {
  awayMs: number;
  /** For how long requests were still answered from memory while the ledger was away. */
  servedMs: number;
  /** Answers while it was away, by status. */
  during: Record<string, number>;
  /** From its return until every replica answered old and new keys again, with a price written after it. */
  recoveryMs: number;
  answered: number;
  used: number;
  odd: Record<string, number>;
  /** Answers with prices: the slowest of a hundred, before and while the ledger was away. */
  p99Ms: { before: number; during: number };
  /** How long a refusal took at most while the ledger was away. */
  refusalMsMax: number;
  /** How much the replicas' memory grew while it was away. */
  grownMb: number;
  wrong: string[];
}

/** How a ledger goes away and comes back. */
export interface Comings {
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
}

/** Two clients at each replica with this pause: up to 100 requests a second, so that a block lasts for seconds. */
const CONNECTIONS = 2;
const PAUSE_MS = 20;
const BEFORE_MS = 3_000;
/** What is served once all is well. */
export const NEW_PRICE = 123;
/** So long it is waited for; the promise is 5 s. */
const RECOVERY_MS_MAX = 60_000;

/** The ledger goes away under load for a while and comes back. */
export async function outage(cluster: Cluster, awayMs: number, ledger: Comings): Promise<Outage> {
  await recovered(cluster);
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
  await ledger.goAway();
  const gone = performance.now();
  await Bun.sleep(awayMs);
  const grownMb = memoryMb(cluster) - memoryBefore;
  const leaving = performance.now();
  await ledger.comeBack();
  const back = performance.now();
  await allWell(cluster, cold.key);
  const wellAt = performance.now();
  await Bun.sleep(1_000);
  stop.abort();
  const heard = await asking;
  const during = heard.between(gone, leaving);
  const served = during.filter(({ answer }) => answer === 200);
  const refused = during.filter(({ answer }) => answer !== 200);
  const lastRefusedAt = heard.answers.findLast(({ answer }) => answer !== 200)?.at ?? 0;
  return {
    awayMs: back - gone,
    servedMs: (served.at(-1)?.at ?? gone) - gone,
    during: countBy(during.map(({ answer }) => String(answer))),
    recoveryMs: Math.max(wellAt, lastRefusedAt) - back,
    answered: heard.count(200),
    used: await cluster.usedOf(id),
    odd: heard.odd,
    p99Ms: {
      before: percentile(
        heard.between(start + BEFORE_MS / 3, gone).map(({ ms }) => ms),
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

/** What does not hold, whatever the machine does beside it. */
export function faultsOf({ answered, used, odd, servedMs, wrong }: Outage): string[] {
  const faults = [...wrong];
  if (answered !== used) faults.push(`${answered} were answered and ${used} counted`);
  if (Object.keys(odd).length > 0) faults.push(`answers that should not be: ${JSON.stringify(odd)}`);
  if (servedMs < 1_000) faults.push(`answers from memory ended after ${servedMs.toFixed(0)} ms`);
  return faults;
}

/**
 * An earlier outage is over. Without this, replicas would start with connections that are still hanging: the account would
 * get its first units while the ledger is slow, and each refill of such a small block waits for it.
 */
async function recovered(cluster: Cluster): Promise<void> {
  const { key } = await cluster.newAccount(10_000);
  await eachReplica(cluster, async (client) => (await client.get(PATH, key)) === 200);
}

/** Every replica answers a key that it has never seen, with a price that was written after the ledger's return. */
async function allWell(cluster: Cluster, key: string): Promise<void> {
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

/** Waits until every replica is as wanted. */
async function eachReplica(cluster: Cluster, isWanted: (client: Client) => Promise<boolean>): Promise<void> {
  await Promise.all(
    cluster.urls.map(async (url) => {
      const client = new Client(url);
      await eventually(() => isWanted(client), RECOVERY_MS_MAX);
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
