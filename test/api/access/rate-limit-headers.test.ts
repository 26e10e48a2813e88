import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('RateLimit headers', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358 });
  });

  test('every response to a key has the policy and what is left, errors and 304 included', async () => {
    await api.service.setPlan({ name: 'basic', quota: 10_000, burstPerSecond: 20 });
    const key = await api.service.key('basic');
    const asked: [path: string, headers: Record<string, string>, status: number, left: number][] = [
      ['/usage', {}, 200, 10_000],
      ['/symbols', {}, 200, 9_999],
      ['/rates/latest?symbols=XAU', {}, 200, 9_998],
      ['/symbols', { 'if-none-match': '*' }, 304, 9_998],
      ['/rates/latest', {}, 400, 9_998],
      ['/rates/latest?symbols=NOPE', {}, 404, 9_998],
    ];
    for (const [path, headers, status, left] of asked) {
      const reply = await api.ask(path, { key, headers });
      expect(reply.status).toBe(status);
      expect(reply.headers.get('ratelimit-policy')).toBe('"month";q=10000;w=2592000, "burst";q=20;w=1');
      const [, remaining, seconds] = /^"month";r=(\d+);t=(\d+)$/.exec(reply.headers.get('ratelimit')!)!;
      expect(Number(remaining)).toBe(left);
      expect(await api.service.isSecondsToReset(Number(seconds))).toBe(true);
    }
  });

  test('the first request of a customer reads the quota only if it is not charged', async () => {
    const { quota } = api.service.ledger;
    const { usageWithoutLease } = quota;
    let reads = 0;
    quota.usageWithoutLease = (...args) => {
      reads++;
      return usageWithoutLease.apply(quota, args);
    };
    const first: [
      path: string,
      init: { method?: string; headers?: Record<string, string> },
      status: number,
    ][] = [
      ['/rates/latest?symbols=XAU', {}, 200],
      ['/rates/latest?symbols=XAU', { headers: { 'if-none-match': '*' } }, 304],
      ['/rates/latest?symbols=XAU', { method: 'HEAD' }, 200],
      ['/rates/latest?symbols=NOPE', {}, 404],
      ['/rates/latest', {}, 400],
      ['/account', {}, 200],
    ];
    const counts: number[] = [];
    for (const [path, init, status] of first) {
      reads = 0;
      const reply = await api.ask(path, { key: await api.service.key('basic'), ...init });
      expect(reply.status).toBe(status);
      expect(reply.headers.get('ratelimit')).toMatch(/^"month";r=\d+;t=\d+$/);
      counts.push(reads);
    }
    quota.usageWithoutLease = usageWithoutLease;
    expect(counts).toEqual([0, 1, 1, 1, 1, 1]);
  });

  test('a response without a customer has none', async () => {
    for (const [path, key] of [
      ['/symbols', ''],
      ['/symbols', 'wrong'],
      ['/nowhere', api.key],
      ['/health', api.key],
    ] as const) {
      const { headers } = await api.ask(path, { key });
      expect([headers.get('ratelimit'), headers.get('ratelimit-policy')], path).toEqual([null, null]);
    }
  });

  test('a quota lowered below the usage leaves zero, not a negative number', async () => {
    await api.service.setPlan({ name: 'shrinks', quota: 5 });
    const key = await api.service.key('shrinks');
    for (let i = 0; i < 3; i++) await api.ask('/symbols', { key });
    await api.service.setPlan({ name: 'shrinks', quota: 1 });
    const { headers, body } = await api.ask('/usage', { key });
    expect(headers.get('ratelimit')).toStartWith('"month";r=0;');
    expect(body).toMatchObject({ quota: 1, used: 3, remaining: 0 });
  });

  test('the numbers fit the integers of the header format, even for the unlimited plan', async () => {
    const { headers } = await api.ask('/usage');
    expect(headers.get('ratelimit-policy')).toContain('"month";q=999999999999999;');
  });
});
