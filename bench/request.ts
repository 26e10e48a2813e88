/**
 * `npm run bench:request`: what the API itself costs per request, without the socket, in units of parsing the response
 * once with JSON.parse. Both are measured in turns, so the ratio holds on a busy machine.
 */
import type { IncomingRequest } from '../src/http/message/incoming-request.ts';
import { removeFolders } from '../test/support/ledger.ts';
import { openTestService } from '../test/support/service.ts';

const PATH = '/rates/time-series?symbols=XAU,XAG,ZINC&startDate=2024-04-15&endDate=2024-05-14';
const REQUESTS = 1_000;
const ROUNDS = 30;

const service = await openTestService('sqlite', { logLevel: 'warn' });
const days = Array.from({ length: 30 }, (_, i) =>
  new Date(Date.UTC(2024, 3, 15 + i)).toISOString().slice(0, 10),
);
const prices = Object.fromEntries(days.map((day, i) => [day, 2_300 + i * 0.25]));
for (const code of ['XAU', 'XAG', 'ZINC']) await service.publish(code, prices);
await service.setPlan({ name: 'wide', quota: 1_000_000_000, burstPerSecond: 1_000_000 });
const key = await service.key('wide');
const body = await (await service.get(PATH, key)).text();

let unique = 0;
console.log(`repeated   ${(await costOf(() => PATH)).toFixed(3)} × JSON.parse of the response`);
console.log(
  `new        ${(await costOf(() => `${PATH}&_=${++unique}`)).toFixed(3)} × JSON.parse of the response`,
);
await service.close();
removeFolders();

async function costOf(url: () => string): Promise<number> {
  const handle = () => service.core.api.handle(requestOf(url()), () => '127.0.0.1');
  const [own, parsing] = [[] as number[], [] as number[]];
  for (let round = 0; round < ROUNDS; round++) {
    await warmUp(handle);
    own.push(msOf(() => void handle()));
    parsing.push(msOf(() => void JSON.parse(body)));
  }
  return Math.min(...own) / Math.min(...parsing);
}

/** Until the meter holds enough units that no request of a round has to wait for the ledger. */
async function warmUp(handle: () => unknown): Promise<void> {
  for (let isWarm = false; !isWarm; ) {
    isWarm = true;
    for (let i = 0; i < 2 * REQUESTS; i++) {
      const answer = handle();
      if (answer instanceof Promise) isWarm = false;
      await answer;
    }
    await Bun.sleep(10);
  }
}

function requestOf(url: string): IncomingRequest {
  return {
    method: 'GET',
    url,
    headers: { get: (name) => (name === 'x-api-key' ? key : null), has: () => false },
    bytes: async () => new Uint8Array(),
  };
}

function msOf(work: () => void): number {
  const start = performance.now();
  for (let i = 0; i < REQUESTS; i++) work();
  return performance.now() - start;
}
