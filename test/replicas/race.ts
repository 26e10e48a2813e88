import { type Cluster, PATH } from './cluster.ts';
import { crowd } from './crowd.ts';

export interface Raced {
  answered: number;
  refused: number;
  unexpected: Record<string, number>;
  used: number;
}

/** Sends twice as many requests of one account as its quota allows, to all replicas at once. */
export async function race(cluster: Cluster, quota: number, connections = 8): Promise<Raced> {
  const { id, key } = await cluster.newAccount(quota);
  const requests = 2 * quota;
  const received = await crowd({
    urls: cluster.urls,
    path: PATH,
    key,
    connections,
    requests,
    retries503: true,
  });
  const used = await cluster.usedOf(id);
  return {
    answered: received.count(200),
    refused: received.count(429),
    unexpected: received.unexpected,
    used,
  };
}

/** The outcome of a race without a fault. */
export function expectedRace(quota: number): Raced {
  return { answered: quota, refused: quota, unexpected: {}, used: quota };
}
