import { describe, expect, test } from 'bun:test';
import type { IncomingRequest } from '../../../src/http/message/incoming-request.ts';
import { apiOn } from '../../support/api.ts';

const PATH = '/rates/time-series?symbols=XAU,XAG,ZINC&startDate=2024-04-15&endDate=2024-05-14';
const REQUESTS = 1_000;

/**
 * Bounds on the work per request; `npm run bench:request` measures its time. A change that adds to the hot path has to
 * raise these numbers and say why.
 */
describe('a request', () => {
  const api = apiOn('sqlite', { logLevel: 'warn' }, async ({ service }) => {
    const days = Array.from({ length: 30 }, (_, i) =>
      new Date(Date.UTC(2024, 3, 15 + i)).toISOString().slice(0, 10),
    );
    const prices = Object.fromEntries(days.map((day, i) => [day, 2_300 + i * 0.25]));
    for (const code of ['XAU', 'XAG', 'ZINC']) await service.publish(code, prices);
    await service.setPlan({ name: 'wide', quota: 1_000_000_000, burstPerSecond: 1_000_000 });
  });

  /** A request that counts its lookups. `url` provides the URL of each call. */
  async function asking(url: () => string) {
    const key = await api.service.key('wide');
    const counts = { headers: 0, clock: 0, promises: 0 };
    const request: IncomingRequest = {
      method: 'GET',
      url: '',
      headers: {
        get(name) {
          counts.headers++;
          return name === 'x-api-key' ? key : null;
        },
        has: () => false,
      },
      bytes: async () => new Uint8Array(),
    };
    const { core, clock } = api.service;
    clock.now = () => {
      counts.clock++;
      return clock.time;
    };
    const handle = () => core.api.handle({ ...request, url: url() }, () => '127.0.0.1');
    /** Warms up the meter, which leases more units the more are spent, so that a synchronous round does not run out. */
    const ready = async () => {
      for (let isReady = false; !isReady; ) {
        isReady = true;
        for (let i = 0; i < 2 * REQUESTS; i++) {
          const answer = handle();
          if (answer instanceof Promise) isReady = false;
          await answer;
        }
        await Bun.sleep(10);
      }
      Object.assign(counts, { headers: 0, clock: 0 });
    };
    await ready();
    return { handle, counts, ready };
  }

  let unique = 0;
  const never = () => `${PATH}&_=${++unique}`;

  test('that is cached reads five headers and the clock once, and never waits', async () => {
    const { handle, counts } = await asking(() => PATH);
    for (let i = 0; i < REQUESTS; i++) if (handle() instanceof Promise) counts.promises++;
    expect(counts.promises).toBe(0);
    expect(counts.headers / REQUESTS).toBeLessThanOrEqual(5);
    expect(counts.clock / REQUESTS).toBeLessThan(1.1);
  });

  test('that is not cached reads the clock six times, and never waits', async () => {
    const { handle, counts } = await asking(never);
    for (let i = 0; i < REQUESTS; i++) if (handle() instanceof Promise) counts.promises++;
    expect(counts.promises).toBe(0);
    expect(counts.clock / REQUESTS).toBeLessThan(6.1);
  });
});
