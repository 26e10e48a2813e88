import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { printDay } from '../../src/market/day.ts';
import { apiOn } from '../support/api.ts';
import { type Fate, FaultyProxy } from '../support/http/faulty-proxy.ts';
import { day } from '../support/ledgers.ts';
import { eventually } from '../support/program.ts';
import { Seeded } from '../support/seeded.ts';
import { runtimes } from './runtimes.ts';

const HISTORY_DAYS = 2_600;
const LAST = day('2024-05-14');
const SINGLE_DAYS = Array.from({ length: 24 }, (_, i) => printDay(LAST - i));
const DAMAGE: readonly Fate[] = ['pass', 'pass', 'pass', 'lose', 'drop', 'truncate', 'delay', 'duplicate'];

for (const runtime of await runtimes()) {
  describe(`the client in ${runtime.name}, through a proxy that cuts, delays and duplicates`, () => {
    const api = apiOn('sqlite', {}, async ({ service }) => {
      const days = Array.from({ length: HISTORY_DAYS }, (_, i) => [printDay(LAST - i), 1_000 + i] as const);
      await service.publish('XAU', Object.fromEntries(days));
      await service.publish('XAG', Object.fromEntries(days));
      runInRealTime(service.clock);
    });
    let proxy: FaultyProxy;
    beforeEach(async () => {
      proxy = await FaultyProxy.open(api.service.url);
    });
    afterEach(() => proxy.close());

    /** What the service has counted, and what it has written to the ledger. */
    const countsOf = async (key: string) => {
      const { used } = (await api.ask('/usage', { key })).body;
      const { days } = await api.service.dailyUsage(key);
      return { used, inLedger: days.reduce((sum, { count }) => sum + count, 0) };
    };

    test('every page and every answer arrives exactly once, and each is counted once', async () => {
      const chance = new Seeded(20240515);
      const triesOf = (target: string) => proxy.requests.filter((sent) => sent.target === target).length;
      // A client that keeps losing connections gives up after a minute, as it should.
      proxy.fateOf = (target) => (triesOf(target) < 3 ? chance.pick(DAMAGE) : 'pass');
      const key = await api.service.key('unlimited');
      const outcome = await runtime.run('sendRequests', { url: proxy.url, key, days: SINGLE_DAYS });
      expect(outcome.failures).toEqual([]);
      expect(outcome.pages).toBe(3);
      expect(outcome.rows).toHaveLength(2 * HISTORY_DAYS);
      expect(new Set(outcome.rows).size).toBe(2 * HISTORY_DAYS);
      expect(outcome.days.toSorted()).toEqual(SINGLE_DAYS.toSorted());
      const answers = outcome.pages + SINGLE_DAYS.length;
      expect(await countsOf(key)).toEqual({ used: answers, inLedger: answers });
      const fates = new Set(proxy.requests.map(({ fate }) => fate));
      expect([...fates].sort()).toEqual([...new Set(DAMAGE)].sort());
    });

    test('a call that is not repeated is counted at most once, also where the runtime repeats it by itself', async () => {
      const chance = new Seeded(20240515);
      proxy.fateOf = () => chance.pick(['pass', 'lose', 'truncate', 'duplicate']);
      const key = await api.service.key('unlimited');
      const ends = await runtime.run('sendOnce', { url: proxy.url, key, days: SINGLE_DAYS });
      const count = (end: string) => ends.filter((one) => one === end).length;
      expect(count('answered') + count('lost')).toBe(SINGLE_DAYS.length);
      const { used } = await countsOf(key);
      expect(used).toBeGreaterThanOrEqual(count('answered'));
      expect(used).toBeLessThanOrEqual(SINGLE_DAYS.length);
    });

    test('a stream delivers the newest prices without repetition, over cut connections and repeated events', async () => {
      proxy.alter = (bytes) => (isWholeChunk(bytes) ? Buffer.concat([bytes, bytes]) : bytes);
      const key = await api.service.key('unlimited');
      const last = 4_070;
      const listening = runtime.run('listen', { url: proxy.url, key, last });
      const isOver = listening.then(() => true);
      await eventually(async () => proxy.requests.length > 0);
      for (let price = 4_001; price <= last; price++) {
        await api.service.tick('XAU', price);
        await api.service.tick('XAG', price - 3_900);
        if (price % 20 === 0) proxy.cut();
        await Promise.race([isOver, Bun.sleep(40)]);
      }
      const rates = await listening;
      const gold = rates.filter(([symbol]) => symbol === 'XAU').map(([, rate]) => rate);
      expect(gold.at(-1)).toBe(last);
      expect(gold).toEqual([...new Set(gold)].sort((a, b) => a - b));
      expect(gold.length).toBeGreaterThan(5);
      expect(
        proxy.requests.filter(({ headers }) => /last-event-id: \S/i.test(headers)).length,
      ).toBeGreaterThan(1);
    });
  });
}

/** Lets the service's clock run, a minute after its start. */
function runInRealTime(clock: { time: number }): void {
  const start = clock.time + 60_000 - performance.now();
  Object.defineProperty(clock, 'time', { get: () => Math.floor(start + performance.now()) });
}

/** Whether bytes are one chunk of a chunked body: they can be repeated. */
function isWholeChunk(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  const [, length] = /^([0-9a-f]+)\r\n/i.exec(text) ?? [];
  return length !== undefined && text.length === length.length + 4 + Number.parseInt(length, 16);
}
