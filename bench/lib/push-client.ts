/** Clients that push one tick each, again and again, for some seconds. Prints how many were accepted, and how long they took. */
import { percentile } from '../../test/support/percentile.ts';

const { url, token, codes, clients, seconds } = JSON.parse(process.argv[2]!) as {
  url: string;
  token: string;
  codes: string[];
  clients: number;
  seconds: number;
};
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const run = Date.now();
const times: number[] = [];
const endsAt = performance.now() + seconds * 1_000;
await Promise.all(Array.from({ length: clients }, (_, client) => pushUntilOver(client)));
console.log(
  JSON.stringify({ accepted: times.length, p50: percentile(times, 0.5), p99: percentile(times, 0.99) }),
);

async function pushUntilOver(client: number): Promise<void> {
  for (let n = 0; performance.now() < endsAt; n++) {
    const tick = {
      symbol: codes[(client + n) % codes.length],
      price: 100 + (n % 40) / 100,
      at: Date.now(),
      id: `${run}-${client}-${n}`,
    };
    const start = performance.now();
    const response = await fetch(`${url}/admin/ticks?source=bench`, {
      method: 'POST',
      headers,
      body: JSON.stringify([tick]),
    });
    const text = await response.text();
    if (!text.includes('"accepted":1,')) throw new Error(text);
    times.push(performance.now() - start);
  }
}
