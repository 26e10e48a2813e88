import type { Program } from '../support/program.ts';

export interface Load {
  answered: number;
  errors: Map<string, number>;
}

/** The program under load, a key with a large quota, and the admin token. */
export interface LoadTarget {
  program: Program;
  key: string;
  token: string;
}

/** Far below what a core can do: the duration matters, not the speed. */
const PAUSE_MS = 5;
const CLIENTS = 8;
const STREAMS = 4;

/** Requests of customers, valid and invalid, each with its expected statuses. */
const REQUESTS: readonly [path: (n: number) => string, statuses: readonly number[]][] = [
  [(n) => `/rates/latest?symbols=XAU,XAG,WTIOIL-FUT&_=${n}`, [200]],
  [() => '/rates/latest?symbols=XAU', [200]],
  [(n) => `/rates/historical?symbols=XAU&date=${day(n)}`, [200]],
  [(n) => `/rates/time-series?symbols=XAU,PL&startDate=${day(n + 25)}&endDate=${day(n)}`, [200]],
  [(n) => `/rates/fluctuation?symbols=XAU&startDate=${day(n + 300)}&endDate=${day(n)}`, [200]],
  [(n) => `/rates/historical?symbols=XAU&date=${day(n)}&format=csv`, [200]],
  [() => '/symbols', [200]],
  [() => '/usage', [200]],
  [(n) => `/rates/latest?symbols=NOPE${n}`, [404]],
  [(n) => `/nowhere/${n}`, [404]],
  [() => '/rates/historical?symbols=XAU&date=2023-02-29', [400]],
];

/** Sends requests, reads streams and pushes prices until stopped. */
export async function runLoad(
  { program, key, token }: LoadTarget,
  load: Load,
  until: AbortSignal,
): Promise<void> {
  const fail = (what: string) => load.errors.set(what, (load.errors.get(what) ?? 0) + 1);
  const sendRequests = async (first: number) => {
    for (let n = first; !until.aborted; n++) {
      const [path, expected] = REQUESTS[n % REQUESTS.length]!;
      await once(load, fail, () => program.get(path(n % 900), key), expected);
      await Bun.sleep(PAUSE_MS);
    }
  };
  const sendWrongKeys = async () => {
    for (; !until.aborted; await Bun.sleep(1_200)) {
      await once(load, fail, () => program.get('/symbols', `pit_live_${'x'.repeat(36)}`), [401]);
    }
  };
  const pushPrices = async () => {
    for (let n = 0; !until.aborted; n++) {
      const body = JSON.stringify([{ symbol: 'PA', price: 1_000 + (n % 10), at: Date.now() }]);
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      await once(
        load,
        fail,
        () => fetch(`${program.url}/admin/ticks`, { method: 'POST', headers, body }),
        [200],
      );
      await Bun.sleep(500);
    }
  };
  await Promise.all([
    ...Array.from({ length: CLIENTS }, (_, i) => sendRequests(i * 7)),
    ...Array.from({ length: STREAMS }, () => readStreams(program, key, fail, until)),
    sendWrongKeys(),
    pushPrices(),
  ]);
}

async function once(
  load: Load,
  fail: (what: string) => void,
  send: () => Promise<Response>,
  expected: readonly number[],
): Promise<void> {
  try {
    const answer = await send();
    await answer.arrayBuffer();
    load.answered++;
    if (!expected.includes(answer.status)) fail(`${answer.status} instead of ${expected.join()}`);
  } catch {
    fail('broken');
  }
}

/** Reads a stream for some seconds and opens it again, like a user who leaves the page and returns. */
async function readStreams(
  program: Program,
  key: string,
  fail: (what: string) => void,
  until: AbortSignal,
): Promise<void> {
  while (!until.aborted) {
    const left = AbortSignal.any([until, AbortSignal.timeout(2_000 + 5_000 * Math.random())]);
    try {
      const headers = { 'x-api-key': key };
      const answer = await fetch(`${program.url}/rates/stream?symbols=XAU,WTIOIL-FUT`, {
        headers,
        signal: left,
      });
      if (answer.status !== 200) fail(`stream ${answer.status}`);
      for await (const _ of answer.body!);
    } catch {
      if (!left.aborted) fail('stream broken');
    }
    await Bun.sleep(50);
  }
}

function day(ago: number): string {
  return new Date(Date.now() - (3 + ago) * 86_400_000).toISOString().slice(0, 10);
}
