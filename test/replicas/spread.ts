import { Client } from '../support/http/client.ts';
import { ADMIN_TOKEN } from '../support/replication/replicas.ts';
import { type Cluster, PATH } from './cluster.ts';

/** The interval at which a condition is checked. */
const POLL_MS = 3;
const WAIT_MS_MAX = 60_000;

/** Pushes ticks to one replica. Returns after how many ms each tick was visible on each other replica. */
export async function tickSpread(cluster: Cluster, ticks: number): Promise<number[]> {
  const { key } = await cluster.newAccount(1_000_000_000);
  const [first, ...others] = cluster.urls;
  const clients = others.map((url) => new Client(url));
  const took: number[] = [];
  for (let i = 0; i < ticks; i++) {
    await Bun.sleep(250 * Math.random()); // at any moment between two polls of the followers
    const price = 100 + i / 1_000; // near its neighbours: it is not held in quarantine
    const start = performance.now();
    const [, ...shown] = await Promise.all([
      push(first!, price),
      ...clients.map((client) => until(start, async () => (await priceAt(client, key)) === price)),
    ]);
    took.push(...shown);
  }
  for (const client of clients) client.close();
  return took;
}

/** Revokes keys. Returns for each key after how many ms the last replica refused it. */
export async function revocationSpread(cluster: Cluster, keys: number): Promise<number[]> {
  const clients = cluster.urls.map((url) => new Client(url));
  const took: number[] = [];
  for (let i = 0; i < keys; i++) {
    const { key, keyId } = await cluster.newAccount(1_000_000);
    const isKnown = (client: Client) => async () => (await client.get(PATH, key)) === 200;
    await Promise.all(clients.map((client) => until(performance.now(), isKnown(client))));
    await Bun.sleep(250 * Math.random());
    const start = performance.now();
    await cluster.ledger.keys.revoke(keyId, Date.now());
    const refused = clients.map((client) => until(start, async () => (await client.get(PATH, key)) === 401));
    took.push(Math.max(...(await Promise.all(refused))));
  }
  for (const client of clients) client.close();
  return took;
}

/** Pushes a price of gold to one replica, which must accept it. */
export async function push(url: string, price: number): Promise<void> {
  const answer = await fetch(`${url}/admin/ticks?source=test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify([{ symbol: 'XAU', price, at: Date.now() }]),
  });
  const text = await answer.text();
  if (!text.includes('"accepted":1')) throw new Error(`the push was answered with ${answer.status}: ${text}`);
}

async function priceAt(client: Client, key: string): Promise<number | undefined> {
  const answer = await client.get(PATH, key);
  return answer === 200 ? JSON.parse(client.body).rates.XAU : undefined;
}

async function until(start: number, isTrue: () => Promise<boolean>): Promise<number> {
  while (!(await isTrue())) {
    if (performance.now() - start > WAIT_MS_MAX)
      throw new Error(`the condition did not hold within ${WAIT_MS_MAX} ms`);
    await Bun.sleep(POLL_MS);
  }
  return performance.now() - start;
}
