import { type Cluster, PATH } from './cluster.ts';
import { crowd } from './crowd.ts';

export interface Raced {
  answered: number;
  refused: number;
  odd: Record<string, number>;
  used: number;
}

/** One account asked twice as often as its quota allows, over all replicas at once. */
export async function race(cluster: Cluster, quota: number, connections = 8): Promise<Raced> {
  const { id, key } = await cluster.newAccount(quota);
  const requests = 2 * quota;
  const heard = await crowd({ urls: cluster.urls, path: PATH, key, connections, requests, comesBack: true });
  const used = await cluster.usedOf(id);
  return { answered: heard.count(200), refused: heard.count(429), odd: heard.odd, used };
}

/** What a sound race comes to. */
export function raceWanted(quota: number): Raced {
  return { answered: quota, refused: quota, odd: {}, used: quota };
}
