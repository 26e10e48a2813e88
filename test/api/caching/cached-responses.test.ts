import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { hashKey } from '../../../src/gate/key.ts';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, NOON } from '../../support/service.ts';

const PATHS = [
  '/rates/latest?symbols=XAU,XAG',
  '/rates/historical?symbols=XAU&date=2024-05-15',
  '/rates/time-series?symbols=XAU,XAG&startDate=2024-05-01&endDate=2024-05-20',
  '/rates/fluctuation?symbols=XAG&startDate=2024-05-10&endDate=2024-05-15',
  '/symbols?',
  '/symbols?format=csv',
  '/rates/latest?symbols=XAU,XAG&quote=EUR',
  '/rates/latest?symbols=XAU&format=ndjson',
  '/rates/historical?symbols=XAG&date=2024-05-15&quote=EUR&unit=kg',
  '/rates/time-series?symbols=XAU&startDate=2024-05-01&endDate=2024-05-20&asOf=2024-05-15',
  '/rates/history?symbols=XAU,XAG&startDate=2024-01-01&endDate=2024-05-20&interval=month&quote=EUR&format=csv',
  '/rates/revisions?symbols=XAU&date=2024-05-14',
  '/rates/statistics?symbols=XAU&startDate=2024-05-01&endDate=2024-05-15',
  '/v3/rates/latest?symbols=XAU,NOPE',
  '/rates/latest?symbols=XAU/XAG,XAU',
];

const step = fc.oneof(
  fc.record({
    kind: fc.constant('wait' as const),
    ms: fc.constantFrom(1, 300, 1_000, 61_000, 14 * MINUTE, 3_600_000, 86_400_000),
  }),
  fc.record({
    kind: fc.constant('late' as const),
    code: fc.constantFrom('XAU', 'XAG'),
    inMs: fc.constantFrom(-MINUTE, 500, MINUTE, 86_400_000),
  }),
  fc.record({
    kind: fc.constant('tick' as const),
    code: fc.constantFrom('XAU', 'XAG', 'ZINC'),
    price: fc.integer({ min: 1, max: 999 }),
  }),
  fc.record({
    kind: fc.constant('bar' as const),
    code: fc.constantFrom('XAU', 'XAG', 'EUR/USD'),
    day: fc.constantFrom('2024-05-13', '2024-05-14'),
    price: fc.integer({ min: 1, max: 999 }),
  }),
  fc.record({
    kind: fc.constant('ask' as const),
    path: fc.constantFrom(...PATHS),
    plan: fc.constantFrom('free', 'pro', 'unlimited'),
  }),
);

onEachEngine('a cached response', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    for (const code of ['XAU', 'XAG', 'ZINC'])
      await service.publish(code, { '2024-05-09': 100, '2024-05-10': 101 });
    await service.publish('EUR/USD', { '2024-05-09': 1.07, '2024-05-10': 1.08 }, 'ecb');
    for (const name of ['free', 'pro', 'unlimited']) {
      const delaySeconds = { free: 3_600, pro: 60, unlimited: 0 }[name]!;
      await service.setPlan({ name, delaySeconds, quota: 1_000_000_000, burstPerSecond: 1_000_000 });
    }
  });
  let unique = 0;

  /** Sets when the feed of one symbol becomes late. */
  function lateFrom(code: string, ms: number): void {
    api.service.core.board.setLateFrom((one) => (one === code ? ms : undefined));
  }

  test('equals a freshly computed one, whatever happened in between', async () => {
    const keys = new Map<string, string>();
    for (const plan of ['free', 'pro', 'unlimited']) keys.set(plan, await api.service.key(plan));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const { service } = api;
        service.clock.time = Math.max(service.clock.time, NOON) + MINUTE;
        for (const s of steps) {
          if (s.kind === 'wait') service.clock.time += s.ms;
          if (s.kind === 'tick') await service.tick(s.code, s.price);
          if (s.kind === 'bar') await service.publish(s.code, { [s.day]: s.price });
          if (s.kind === 'late') lateFrom(s.code, service.clock.time + s.inMs);
          if (s.kind !== 'ask') continue;
          const key = keys.get(s.plan)!;
          await api.ask(s.path, { key });
          const again = await api.ask(s.path, { key });
          // An unknown parameter is ignored, and makes a URL that is not cached.
          const anew = await api.ask(`${s.path}&_=${++unique}`, { key });
          expect(again.text).toBe(anew.text);
          for (const header of ['etag', 'cache-control', 'content-type', 'vary', 'ratelimit-policy']) {
            expect(again.headers.get(header)).toBe(anew.headers.get(header));
          }
        }
      }),
      { numRuns: 25 },
    );
  }, 180_000);

  test('costs a unit each time, and is refused when the quota is exhausted or the key is revoked', async () => {
    const { service } = api;
    await service.setPlan({ name: 'three', quota: 3 });
    const key = await service.key('three');
    const statuses = [];
    for (let i = 0; i < 5; i++) statuses.push((await api.ask(PATHS[0]!, { key })).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);

    const other = await service.key();
    expect((await api.ask(PATHS[0]!, { key: other })).status).toBe(200);
    expect((await api.ask(PATHS[0]!, { key: other })).status).toBe(200);
    const found = await service.ledger.accounts.byKeyHash(hashKey(other));
    await service.ledger.keys.revoke(found!.key.id, service.clock.time);
    await service.core.follow();
    expect((await api.ask(PATHS[0]!, { key: other })).status).toBe(401);
  });

  test('is charged to the key of the request: the header overrides the URL', async () => {
    const [mine, theirs] = [await api.service.key('pro'), await api.service.key('unlimited')];
    const path = `${PATHS[0]}&apiKey=${theirs}`;
    for (let i = 0; i < 2; i++) {
      expect((await api.ask(path, { key: '' })).status).toBe(200);
      expect((await api.ask(path, { key: mine })).status).toBe(200);
      expect((await api.ask('/usage', { key: mine })).body.used).toBe(i + 1);
      expect((await api.ask('/usage', { key: theirs })).body.used).toBe(i + 1);
    }
  });

  test('is not recomputed while the first unit is leased, so that no unit is spent on a failure', async () => {
    const { service } = api;
    const path = '/rates/historical?symbols=XAU&date=2024-05-10&metadata=false';
    for (let i = 0; i < 3; i++) expect((await api.ask(path)).status).toBe(200);
    const key = await service.key();
    expect((await api.ask('/usage', { key })).body.used).toBe(0);
    service.core.board.catalog.find('XAU')!.evict();
    const { revisions } = service.ledger.bars;
    service.ledger.bars.revisions = () => Promise.reject(new Error('a read that fails'));
    const { status } = await api.ask(path, { key });
    service.ledger.bars.revisions = revisions;
    expect(status).toBe(200);
    expect((await api.ask('/usage', { key })).body.used).toBe(1);
  });

  if (engine === 'sqlite') {
    // PostgreSQL has its own clock, which a test cannot move.
    test('has the remaining quota even if it is the first response of a new month', async () => {
      const { service } = api;
      const [mine, theirs] = [await service.key(), await service.key()];
      await api.ask('/usage', { key: mine });
      const path = '/rates/historical?symbols=XAU&date=2024-05-10';
      await api.ask(path, { key: theirs });
      for (const minutes of [40 * 24 * 60, 1, 0]) {
        service.clock.time += minutes * MINUTE;
        expect((await api.ask(path, { key: theirs })).status).toBe(200);
      }
      const reply = await api.ask(path, { key: mine, headers: { 'if-none-match': '*' } });
      expect(reply.status).toBe(304);
      expect(reply.headers.get('ratelimit')).toMatch(/^"month";r=\d+;t=\d+$/);
    });
  }
});
