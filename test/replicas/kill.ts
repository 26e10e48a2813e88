import { type Cluster, PATH } from './cluster.ts';
import { crowd } from './crowd.ts';

export interface Killed {
  quota: number;
  answered: number;
  /** Requests in progress on a replica that was killed. It is unknown which of them were counted. */
  broken: number;
  used: number;
  /** The longest time from the start of a replica to its first answer, in ms. */
  startMsMax: number;
  wrong: string[];
}

/** Kills replicas under load, one after the other, and restarts them on their data folders. Then uses up the rest of the quota. */
export async function killed(cluster: Cluster, quota: number, kills: number): Promise<Killed> {
  const { id, key } = await cluster.newAccount(quota);
  const stop = new AbortController();
  const urls = cluster.urls;
  const asking = crowd({ urls, path: PATH, key, connections: 4, pauseMs: 5, until: stop.signal });
  let startMsMax = 0;
  for (let i = 0; i < kills; i++) {
    await Bun.sleep(100 + 200 * Math.random());
    const index = i % urls.length;
    await cluster.replicas.programs[index]!.end('SIGKILL');
    const start = performance.now();
    await cluster.replicas.restart(index, 'SIGKILL');
    startMsMax = Math.max(startMsMax, performance.now() - start);
  }
  stop.abort();
  const first = await asking;
  const rest = await crowd({ urls: cluster.urls, path: PATH, key, connections: 8, requests: quota + 1_000 });
  return {
    quota,
    answered: first.count(200) + rest.count(200),
    broken: first.count('broken') + rest.count('broken'),
    used: await cluster.usedOf(id),
    startMsMax,
    wrong: await cluster.wrongCounts(),
  };
}

/** The violated guarantees. Every unit of the quota was answered, or was in flight when a replica was killed. */
export function faultsOf({ quota, answered, broken, used, wrong }: Killed): string[] {
  const faults = [...wrong];
  if (answered > quota) faults.push(`${answered} of ${quota} were answered`);
  if (used !== quota) faults.push(`${used} of ${quota} can be used`);
  if (answered + broken < used)
    faults.push(`${used} used, ${answered} answered, ${broken} in flight: some are lost`);
  return faults;
}
