import { describe, expect, test } from 'bun:test';
import type { Incoming } from '../../src/http/incoming.ts';
import { apiOn } from '../support/api.ts';

const PATH = '/rates/time-series?symbols=XAU,XAG,ZINC&startDate=2024-04-15&endDate=2024-05-14';
const REQUESTS = 1_000;
const ROUNDS = 15;

/**
 * What a request may do. Work is counted where it can be, and else compared with other work in the same moment: a
 * clock on a busy machine tells nothing. Whoever makes the way longer has to change these numbers, and say why.
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

  /** A request that counts what is looked up in it, under the URL that `url` gives each time. */
  async function asking(url: () => string) {
    const key = await api.service.key('wide');
    const counts = { headers: 0, clock: 0, promises: 0 };
    const request: Incoming = {
      method: 'GET',
      url: '',
      headers: {
        get(name) {
          counts.headers++;
          return name === 'x-api-key' ? key : null;
        },
        has: () => false,
      },
      text: async () => '',
    };
    const { core, clock } = api.service;
    clock.now = () => {
      counts.clock++;
      return clock.time;
    };
    const handle = () => core.api.handle({ ...request, url: url() }, () => '127.0.0.1');
    /** The meter holds more units the more are asked for. It must not run dry in a round, for nothing else has its turn then. */
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

  /** In times of reading the answer once. */
  async function costOf(url: () => string): Promise<number> {
    const { handle, ready } = await asking(url);
    const { text } = await api.ask(PATH);
    const [own, reading] = [[] as number[], [] as number[]];
    for (let round = 0; round < ROUNDS; round++) {
      await ready();
      own.push(time(() => void handle()));
      reading.push(time(() => void JSON.parse(text)));
    }
    return Math.min(...own) / Math.min(...reading);
  }

  let unique = 0;
  const never = () => `${PATH}&_=${++unique}`;

  test('that was asked before looks at five headers and one clock, and waits for nothing', async () => {
    const { handle, counts } = await asking(() => PATH);
    for (let i = 0; i < REQUESTS; i++) if (handle() instanceof Promise) counts.promises++;
    expect(counts.promises).toBe(0);
    expect(counts.headers / REQUESTS).toBeLessThanOrEqual(5);
    expect(counts.clock / REQUESTS).toBeLessThan(1.1);
  });

  test('that was asked before costs less than a fifth of reading its answer once', async () => {
    expect(await costOf(() => PATH)).toBeLessThan(0.2);
  }, 60_000);

  test('that was never asked before looks at six clocks, and waits for nothing either', async () => {
    const { handle, counts } = await asking(never);
    for (let i = 0; i < REQUESTS; i++) if (handle() instanceof Promise) counts.promises++;
    expect(counts.promises).toBe(0);
    expect(counts.clock / REQUESTS).toBeLessThan(6.1);
  });

  test('that was never asked before costs less than twice as much as reading its answer once', async () => {
    expect(await costOf(never)).toBeLessThan(2);
  }, 60_000);
});

function time(work: () => void): number {
  const start = performance.now();
  for (let i = 0; i < REQUESTS; i++) work();
  return performance.now() - start;
}
