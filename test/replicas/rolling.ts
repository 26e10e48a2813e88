import { Client } from '../support/http/client.ts';
import { type Cluster, PATH } from './cluster.ts';

export interface Rolled {
  restarts: number;
  answered: number;
  /** Requests that no replica answered with 200. */
  failed: string[];
  used: number;
  seconds: number;
}

/** Restarts the replicas under load, one after the other, `restarts` times in total. */
export async function rolling(cluster: Cluster, restarts: number): Promise<Rolled> {
  const { id, key } = await cluster.newAccount(1_000_000_000);
  const start = performance.now();
  const rolled: Rolled = { restarts, answered: 0, failed: [], used: 0, seconds: 0 };
  const stop = new AbortController();
  const clients = [0, 1, 2, 3, 4, 5].map((at) => sendInTurn(cluster.urls, at, key, rolled, stop.signal));
  for (let i = 0; i < restarts; i++) await cluster.replicas.restart(i % cluster.urls.length, 'SIGTERM');
  stop.abort();
  await Promise.all(clients);
  rolled.used = await cluster.usedOf(id);
  rolled.seconds = (performance.now() - start) / 1000;
  return rolled;
}

export function faultsOf({ answered, failed, used }: Rolled): string[] {
  const faults = failed.slice(0, 5).map((why) => `a request failed: ${why}`);
  if (used !== answered) faults.push(`${answered} were answered and ${used} counted`);
  return faults;
}

/** Sends requests as nginx does: if a replica is unreachable or returns 503, the next one gets the request. */
async function sendInTurn(
  urls: readonly string[],
  at: number,
  key: string,
  rolled: Rolled,
  until: AbortSignal,
): Promise<void> {
  const clients = urls.map((url) => new Client(url));
  for (let turn = at; !until.aborted; turn++) {
    const received: string[] = [];
    for (let i = 0; i < clients.length; i++) {
      received.push(String(await clients[(turn + i) % clients.length]!.get(PATH, key)));
      if (!['unreachable', 'broken', '503'].includes(received.at(-1)!)) break;
    }
    if (received.at(-1) === '200') rolled.answered++;
    else rolled.failed.push(received.join(', '));
    await Bun.sleep(5);
  }
  for (const client of clients) client.close();
}
