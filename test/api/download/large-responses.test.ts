import { expect, test } from 'bun:test';
import { recordOf } from '../../../src/ledger/symbols/symbols.ts';
import { parseDay, printDay } from '../../../src/market/day.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

const FIRST = parseDay('2015-05-15')!;
const LAST = parseDay('2024-05-14')!;

function daily(base: number): Record<string, number> {
  const bars: Record<string, number> = {};
  for (let day = FIRST; day <= LAST; day++) if (day % 7 > 1) bars[printDay(day)] = base + (day % 50) / 4;
  return bars;
}

const SYMBOLS = 'symbols=XAU,XAG';
const SPAN = 'startDate=2015-05-15&endDate=2024-05-14';
/** Each is made of more than 1,000 bars. */
const LARGE = [
  `/rates/history?${SYMBOLS}&${SPAN}`,
  `/rates/history?${SYMBOLS}&${SPAN}&interval=month`,
  `/rates/history?${SYMBOLS}&${SPAN}&interval=year&quote=EUR`,
  `/rates/history?${SYMBOLS}&${SPAN}&interval=year&format=csv`,
  `/rates/time-series?${SYMBOLS}&${SPAN}`,
  `/rates/time-series?${SYMBOLS}&${SPAN}&quote=EUR`,
  `/rates/time-series?${SYMBOLS}&${SPAN}&format=ndjson`,
];
const JSON_ONLY = LARGE.filter((path) => !path.includes('format='));

onEachEngine('a large response', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', daily(2_000));
    await service.publish('XAG', daily(20));
    await service.publish('EUR/USD', daily(1), 'ecb');
    await service.publish('EUR/CHF', { '2015-05-15': 1.05, '2024-05-14': 0.98 }, 'ecb');
    await service.setPlan({ name: 'wide', maxSpanDays: 10_000, quota: 1_000 });
    await service.setPlan({ name: 'one', maxSpanDays: 10_000, quota: 1 });
    api.key = await service.key('wide');
  });

  const tagOf = async (path: string, method = 'GET') =>
    (await api.ask(path, { method, headers: { 'accept-encoding': 'identity' } })).headers.get('etag')!;

  /** Counts lookups of source names during `work`: at least one for every body that is built. */
  async function namings(work: () => Promise<unknown>): Promise<number> {
    const { board } = api.service.core;
    const original = board.sourceName;
    let count = 0;
    board.sourceName = (id) => {
      count++;
      return original.call(board, id);
    };
    try {
      await work();
    } finally {
      board.sourceName = original;
    }
    return count;
  }

  test('is not built for HEAD, for a 304, or for an account without quota', async () => {
    const empty = await api.service.key('one');
    await api.ask('/rates/latest?symbols=XAU', { key: empty });
    for (const path of LARGE) {
      const etag = await tagOf(path);
      expect(await namings(() => api.ask(path)), path).toBeGreaterThan(0);
      expect(await namings(() => api.ask(path, { method: 'HEAD' })), `HEAD ${path}`).toBe(0);
      const headers = { 'if-none-match': etag };
      const unchanged = async () => expect((await api.ask(path, { headers })).status, path).toBe(304);
      expect(await namings(unchanged), `304 ${path}`).toBe(0);
      const refused = async () => expectRefusal(await api.ask(path, { key: empty }), 429, 'quota_exhausted');
      expect(await namings(refused), `429 ${path}`).toBe(0);
    }
  });

  test('has the same headers for HEAD and GET, except those about the body', async () => {
    const compared = ['cache-control', 'content-type', 'etag', 'link', 'vary', 'ratelimit-policy'];
    for (const path of LARGE) {
      const headers = { 'accept-encoding': 'identity' };
      const [get, head] = [
        await api.ask(path, { headers }),
        await api.ask(path, { headers, method: 'HEAD' }),
      ];
      expect([get.status, head.status]).toEqual([200, 200]);
      for (const name of compared) expect(head.headers.get(name), name).toBe(get.headers.get(name));
      expect(head.headers.has('content-length')).toBe(false);
    }
  });

  test('costs one unit for GET, and none for HEAD and 304', async () => {
    for (const path of JSON_ONLY) {
      const key = await api.service.key('wide');
      const { headers } = await api.ask(path, { key });
      await api.ask(path, { key, method: 'HEAD' });
      await api.ask(path, { key, headers: { 'if-none-match': headers.get('etag')! } });
      expect((await api.ask('/usage', { key })).body.used, path).toBe(1);
    }
  });

  test('has a different tag for each representation', async () => {
    const variants = [
      ...LARGE,
      ...JSON_ONLY.map((path) => `${path}&metadata=false`),
      ...JSON_ONLY.map((path) => path.replace('XAU,XAG', 'XAG,XAU')),
      `/rates/history?${SYMBOLS}&${SPAN}&quote=EUR&unit=kg`,
    ];
    const tags = await Promise.all(variants.map((path) => tagOf(path, 'HEAD')));
    expect(new Set(tags).size).toBe(tags.length);
  });

  test('changes its tag with a correction of its prices, but not with those of other symbols', async () => {
    const before = await Promise.all(LARGE.map((path) => tagOf(path)));
    await api.service.tick('XAU', 2_377); // today is not requested
    await api.service.publish('PL', { '2024-05-14': 1_000 });
    expect(await Promise.all(LARGE.map((path) => tagOf(path, 'HEAD')))).toEqual(before);
    await api.service.publish('XAG', { '2015-06-01': 99.5 });
    const after = await Promise.all(LARGE.map((path) => tagOf(path, 'HEAD')));
    expect(after.filter((tag, i) => tag === before[i])).toEqual([]);
    expect(await Promise.all(LARGE.map((path) => tagOf(path)))).toEqual(after);
  });

  test('in euros changes its tag with a correction of an exchange rate', async () => {
    const paths = LARGE.filter((path) => path.includes('quote=EUR'));
    const before = await Promise.all(paths.map((path) => tagOf(path)));
    await api.service.publish('EUR/USD', { '2015-06-02': 1.5 }, 'ecb');
    const after = await Promise.all(paths.map((path) => tagOf(path, 'HEAD')));
    expect(after.filter((tag, i) => tag === before[i])).toEqual([]);
  });

  test('that cannot be converted is refused for HEAD and GET', async () => {
    for (const path of [`/rates/history?${SYMBOLS}&${SPAN}`, `/rates/time-series?${SYMBOLS}&${SPAN}`]) {
      const key = await api.service.key('wide');
      const get = await api.ask(`${path}&quote=CHF`, { key });
      const message = expectRefusal(get, 404, 'no_data');
      expect(message).toContain('EUR/CHF');
      expect((await api.ask(`${path}&quote=CHF`, { key, method: 'HEAD' })).status).toBe(404);
      expect((await api.ask('/usage', { key })).body.used).toBe(0);
    }
  });

  test('shows prices as of the request, even if others are published while it is built', async () => {
    for (const [i, path] of JSON_ONLY.entries()) {
      const before = await api.ask(path);
      const [during] = await Promise.all([
        api.ask(path),
        api.service.publish('XAU', { '2015-05-18': 90_000 + i, '2018-06-01': 90_000 + i }),
      ]);
      const after = await api.ask(path);
      const expected = during.headers.get('etag') === before.headers.get('etag') ? before : after;
      expect(during.text).toBe(expected.text);
      expect(during.headers.get('etag')).toBe(expected.headers.get('etag'));
      expect(after.text).not.toBe(before.text);
    }
  });

  test('is the same in gzip', async () => {
    for (const path of JSON_ONLY) {
      const [plain, gzipped] = [
        await api.ask(path, { headers: { 'accept-encoding': 'identity' } }),
        await api.ask(path, { headers: { 'accept-encoding': 'gzip' } }),
      ];
      expect(gzipped.headers.get('content-encoding')).toBe('gzip');
      expect(gzipped.text).toBe(plain.text);
    }
  });

  test('has another tag when what its values depend on changes: the decimals and the update interval of a symbol', async () => {
    const { service } = api;
    const paths = [
      `/rates/history?${SYMBOLS}&${SPAN}&interval=month`,
      `/rates/history?${SYMBOLS}&${SPAN}&interval=month&format=csv`,
      `/rates/statistics?${SYMBOLS}&${SPAN}`,
      `/rates/statistics?${SYMBOLS}&${SPAN}&format=csv`,
      `/rates/statistics?${SYMBOLS}&${SPAN}&format=parquet&asOf=2024-05-15`,
    ];
    const known = (await service.ledger.symbols.list()).find(({ code }) => code === 'XAU')!;
    const tagsAfter = async (change: Partial<typeof known>) => {
      await service.ledger.symbols.upsert([{ ...recordOf(known), ...change }], []);
      await service.core.follow();
      const key = await service.key('wide'); // an account that has just bought a file gets it again
      return Promise.all(paths.map(async (path) => (await api.ask(path, { key })).headers.get('etag')));
    };
    const changes: Partial<typeof known>[] = [{}, { decimals: 5 }, { updateInterval: 'week' }];
    const tags = [];
    for (const change of changes) tags.push(await tagsAfter(change));
    await tagsAfter({});
    for (const [i, path] of paths.entries()) {
      expect(new Set(tags.map((ofChange) => ofChange[i])).size, path).toBe(changes.length);
    }
  });
});
