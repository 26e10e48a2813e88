import { describe, expect, test } from 'bun:test';
import { readConfig } from '../../../src/config.ts';
import { Directory } from '../../../src/gate/directory/directory.ts';
import { createKey, secureRandom } from '../../../src/gate/key.ts';
import { CACHE_SHARES } from '../../../src/ops/gauges/cache-gauges.ts';
import { apiOn } from '../../support/api.ts';
import { onBunServe } from '../../support/http-server.ts';
import { heldBytes } from '../../support/monitoring/memory.ts';

const MEGABYTE = 1024 * 1024;
/** Allowance for the clients in this process and for compiled code. */
const SLACK_BYTES = 4 * MEGABYTE;
const CACHE_MB = 32;
const AT_ONCE = 20;
const WARM_UP = 40;

type Request = [path: string, headers: Record<string, string>];

/** Hostile clients: everything they send is different, long, and sent as often as it takes to be cached. */
describe('the memory of caches under hostile traffic', () => {
  const settings = { OPENPIT_CACHE_MB: String(CACHE_MB), OPENPIT_FAILED_KEYS_PER_MINUTE: '1000000' };
  const api = apiOn('sqlite', { settings, logLevel: 'error' }, async ({ service }) => {
    for (const code of ['XAU', 'XAG', 'PL'])
      await service.publish(code, { '2024-05-13': 1, '2024-05-14': 2 });
    await service.setPlan({ name: 'wide', quota: 1e12, burstPerSecond: 1e9, maxSymbols: 1_000 });
    api.key = await service.key('wide');
  });

  /** One metric of every cache, by name. */
  const stats = async (name: 'bytes' | 'limit_bytes' | 'entries' | 'evictions_total') => {
    const { text } = await api.ask('/metrics', { key: '' });
    const samples = text.matchAll(new RegExp(`^openpit_cache_${name}\\{cache="([a-z_]+)"\\} (\\S+)$`, 'gm'));
    return Object.fromEntries([...samples].map(([, cache, value]) => [cache!, Number(value)]));
  };
  const sum = (numbers: Record<string, number>) =>
    Object.values(numbers).reduce((total, one) => total + one, 0);

  async function flood(
    from: number,
    to: number,
    times: number,
    request: (i: number) => Request,
  ): Promise<void> {
    for (let i = from; i < to; i += AT_ONCE) {
      for (let time = 0; time < times; time++) {
        const wave = Array.from({ length: AT_ONCE }, async (_, j) => {
          const [path, headers] = request(i + j);
          await (await fetch(api.service.url + path, { headers })).arrayBuffer();
        });
        await Promise.all(wave);
      }
    }
  }

  /** Floods the caches until one is full, and compares the growth of the heap with the sizes they report. */
  async function expectBounded(cache: string, count: number, request: (i: number) => Request): Promise<void> {
    await flood(0, WARM_UP, 3, request); // compiles the code and opens the connections
    const before = { bytes: sum(await stats('bytes')), evictions: (await stats('evictions_total'))[cache]! };
    const heldBefore = heldBytes();
    await flood(WARM_UP, WARM_UP + count, 3, request);
    const bytes = await stats('bytes');
    const grown = heldBytes() - heldBefore;
    expect((await stats('evictions_total'))[cache]!).toBeGreaterThan(before.evictions);
    expect(bytes[cache]!).toBeLessThanOrEqual((await stats('limit_bytes'))[cache]!);
    expect(sum(bytes)).toBeLessThanOrEqual(CACHE_MB * MEGABYTE);
    expect(grown).toBeLessThan(1.2 * (sum(bytes) - before.bytes) + SLACK_BYTES);
  }

  const customer = () => ({ 'x-api-key': api.key });

  test('answers: long URLs with unknown parameters, in both encodings', async () => {
    const long = 'x'.repeat(7_500);
    await expectBounded('answers', 1_200, (i) => [
      `/symbols?_=${i}${long}`,
      { ...customer(), 'accept-encoding': i % 2 ? 'gzip' : 'identity' },
    ]);
  }, 180_000);

  test('answers: short URLs', async () => {
    await expectBounded('answers', 2_000, (i) => [`/rates/latest?symbols=XAU&_=short${i}`, customer()]);
  }, 180_000);

  test.skipIf(onBunServe)(
    'heads and header lines: different headers each time',
    async () => {
      const long = 'x'.repeat(1_500);
      await expectBounded('header_lines', 1_500, (i) => [
        '/rates/latest?symbols=XAU',
        { ...customer(), a: `${i}${long}` },
      ]);
    },
    180_000,
  );

  test('rendered days: different lists each time, in long URLs', async () => {
    const long = 'x'.repeat(6_000);
    const dates = 'startDate=2024-05-01&endDate=2024-05-15';
    await expectBounded('day_lines', 6_000, (i) => {
      const symbols = `XAU,XAG${','.repeat(i % 500)},PL${',,XAU'.repeat(i / 500)}`;
      return [`/rates/time-series?symbols=${symbols}&${dates}&_=${long}`, customer()];
    });
  }, 180_000);

  test('keys: more customers than fit, in long heads', async () => {
    const keys: string[] = [];
    for (let i = 0; i < 1_800; i++) keys.push(await api.service.key('wide'));
    const directory = await Directory.open({
      ledger: api.service.ledger,
      bytesMax: MEGABYTE,
    });
    /** A header value is a slice of the head's text. */
    const sent = (key: string) => `${'x'.repeat(6_000)}${key}`.slice(6_000);
    await directory.lookUp(sent(keys[0]!));
    const [bytesBefore, heldBefore] = [directory.cache.bytes, heldBytes()];
    for (const key of keys) await directory.lookUp(sent(key));
    const grown = heldBytes() - heldBefore;
    expect(directory.cache.bytes).toBeLessThanOrEqual(MEGABYTE);
    expect(directory.cache.evictions).toBeGreaterThan(100);
    expect(grown).toBeLessThan(1.2 * (directory.cache.bytes - bytesBefore) + MEGABYTE);
    expect(directory.cached(keys.at(-1)!)).toBeDefined();
    expect(keys.filter((key) => directory.cached(key))).toHaveLength(directory.size);
    const bytesPerKey = directory.cache.bytes / directory.size;
    const keysByDefault = (readConfig({}, {}).cacheMb * MEGABYTE * CACHE_SHARES.keys) / bytesPerKey;
    expect(keysByDefault).toBeGreaterThan(150_000);
  }, 180_000);

  test('requests without a key neither fill nor evict the caches of customers', async () => {
    for (let i = 0; i < 3; i++) await api.ask('/rates/latest?symbols=XAU');
    const read = async () => {
      const [entries, evictions] = [await stats('entries'), await stats('evictions_total')];
      return ['answers', 'keys', 'header_lines', 'nearest_codes'].map((cache) => [
        cache,
        entries[cache],
        evictions[cache],
      ]);
    };
    const before = await read();
    await flood(0, 2_000, 3, (i) => [
      ['/rates/latest?symbols=XAU', '/rates/latest?symbols=NOPE', '/admin/accounts', '/health', '/nowhere'][
        i % 5
      ]!,
      {
        'x-api-key': i % 2 ? createKey(secureRandom) : `${i}`,
        authorization: `Bearer ${i}`,
        cookie: `a=${i}`,
      },
    ]);
    expect(await read()).toEqual(before);
  }, 180_000);

  test('every cache has a share of the memory budget', async () => {
    const limits = await stats('limit_bytes');
    expect(Object.keys(limits).sort()).toEqual(Object.keys(CACHE_SHARES).sort());
    expect(sum(limits)).toBeLessThanOrEqual(CACHE_MB * MEGABYTE);
    expect(sum(limits)).toBeGreaterThan(0.98 * CACHE_MB * MEGABYTE);
    expect(Object.keys(await stats('bytes')).sort()).toEqual(Object.keys(limits).sort());
  });
});
