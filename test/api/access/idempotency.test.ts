import { expect, test } from 'bun:test';
import { recordOf } from '../../../src/ledger/symbols/symbols.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { type LongSeries, publishLongSeries } from '../../support/long-series.ts';

const LATEST = '/rates/latest?symbols=XAU';
const RANGE = 'symbols=XAU&startDate=2024-05-10&endDate=2024-05-14';

/** One request for each way in which an answer is built and charged. */
const CHARGED = [
  '/symbols',
  LATEST,
  '/rates/historical?symbols=XAU&date=2024-05-14',
  `/rates/time-series?${RANGE}`,
  `/rates/history?${RANGE}`,
  `/rates/history?${RANGE}&interval=month`,
  `/rates/statistics?${RANGE}`,
  '/rates/historical?symbols=XAU&date=2024-05-14&asOf=2024-05-15',
  '/rates/revisions?symbols=XAU&date=2024-05-14',
  '/v3/rates/latest?symbols=XAU,NOPE',
  '/market',
];

let ids = 0;

onEachEngine('X-Request-Id: once-…', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-10': 2340, '2024-05-13': 2336.1, '2024-05-14': 2358.2 });
    await service.setPlan({ name: 'one', quota: 1 });
  });
  const usedBy = async (key: string) => Number((await api.ask('/usage', { key })).body.used);
  const newId = () => `once-${++ids}`;
  const ask = (path: string, key: string, requestId: string) =>
    api.ask(path, { key, headers: { 'x-request-id': requestId } });

  for (const path of CHARGED) {
    test(`${path} is charged once, however often it is repeated, and the answer stays the same`, async () => {
      const key = await api.service.key('basic');
      const requestId = newId();
      const first = await ask(path, key, requestId);
      await api.service.tick('XAU', 2400 + ids);
      for (let i = 0; i < 4; i++) {
        const again = await ask(path, key, requestId);
        expect([again.status, again.text]).toEqual([first.status, first.text]);
        expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
      }
      expect(await usedBy(key)).toBe(1);
    });

    test(`${path} is charged once if it arrives several times at once`, async () => {
      const key = await api.service.key('basic');
      const requestId = newId();
      const replies = await Promise.all(Array.from({ length: 8 }, () => ask(path, key, requestId)));
      expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
      expect(await usedBy(key)).toBe(1);
    });
  }

  test('another id, another URL and another account are other requests', async () => {
    const [key, other] = [await api.service.key('basic'), await api.service.key('basic')];
    const same = newId();
    await ask(LATEST, key, same);
    await ask(LATEST, key, newId());
    await ask(`${LATEST}&metadata=false`, key, same);
    await ask(LATEST, other, same);
    expect([await usedBy(key), await usedBy(other)]).toEqual([3, 1]);
  });

  test('a refused request is tried again, and then charged', async () => {
    const key = await api.service.key('basic');
    const requestId = newId();
    expectRefusal(await ask('/rates/latest?symbols=XAG', key, requestId), 404, 'no_data');
    await api.service.publish('XAG', { '2024-05-14': 28.5 });
    expect((await ask('/rates/latest?symbols=XAG', key, requestId)).status).toBe(200);
    expect(await usedBy(key)).toBe(1);
  });

  test('the last unit of a quota can be repeated', async () => {
    const key = await api.service.key('one');
    const requestId = newId();
    await ask(LATEST, key, requestId);
    expectRefusal(await ask(LATEST, key, newId()), 429, 'quota_exhausted');
    expect((await ask(LATEST, key, requestId)).status).toBe(200);
  });

  test('an answer is kept for two minutes', async () => {
    const key = await api.service.key('basic');
    const requestId = newId();
    await ask(LATEST, key, requestId);
    api.service.clock.time += 119_000;
    await ask(LATEST, key, requestId);
    expect(await usedBy(key)).toBe(1);
    api.service.clock.time += 2_000;
    await ask(LATEST, key, requestId);
    expect(await usedBy(key)).toBe(2);
  });

  test('an answer is kept for two minutes also if the wall clock is set', async () => {
    const key = await api.service.key('basic');
    const requestId = newId();
    await ask(LATEST, key, requestId);
    for (const setBy of [300_000, 0]) {
      api.service.clock.setBy = setBy;
      await ask(LATEST, key, requestId);
    }
    expect(await usedBy(key)).toBe(1);
  });

  test('a 304 and HEAD stay free', async () => {
    const key = await api.service.key('basic');
    const etag = (await api.ask(LATEST, { key })).headers.get('etag')!;
    const headers = { 'x-request-id': newId(), 'if-none-match': etag };
    expect((await api.ask(LATEST, { key, headers })).status).toBe(304);
    const head = await api.ask(LATEST, { key, headers: { 'x-request-id': newId() }, method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await usedBy(key)).toBe(1);
  });

  test('a free response is not kept: it would evict those that customers paid for', async () => {
    const key = await api.service.key('basic');
    const kept = async () => {
      const { text } = await api.ask('/metrics');
      return Number(/openpit_cache_entries\{cache="idempotent_answers"\} (\d+)/.exec(text)![1]);
    };
    const visit = (await api.ask('/market', { key })).headers.get('openpit-visit');
    const before = await kept();
    for (const path of [`${LATEST}&dryRun=true`, `/market?visit=${visit}`, `/market/quotes?visit=${visit}`])
      expect((await ask(path, key, newId())).status).toBe(200);
    expect(await kept()).toBe(before);
    await ask(LATEST, key, newId());
    expect(await kept()).toBe(before + 1);
  });

  test('an id without the prefix, as gateways make them, changes nothing', async () => {
    const key = await api.service.key('basic');
    for (let i = 0; i < 3; i++) await ask(LATEST, key, 'constant');
    expect(await usedBy(key)).toBe(3);
  });
});

onEachEngine('X-Request-Id: once-… of a response above 1 MB', (engine) => {
  let series: LongSeries;
  const api = apiOn(engine, {}, async ({ service }) => {
    series = await publishLongSeries(service);
  });
  const usedBy = async (key: string) => Number((await api.ask('/usage', { key })).body.used);
  const newId = () => `once-${++ids}`;
  const range = () => `symbols=${series.symbols}&startDate=${series.startDate}&endDate=${series.endDate}`;
  const ask = (path: string, key: string, requestId: string, more: Record<string, string> = {}) =>
    api.ask(path, { key, headers: { 'x-request-id': requestId, 'accept-encoding': 'identity', ...more } });

  test('is charged once, however often it is repeated, in any encoding', async () => {
    const key = await api.service.key(series.plan);
    const requestId = newId();
    const path = `/rates/time-series?${range()}`;
    const first = await ask(path, key, requestId);
    expect(first.text.length).toBeGreaterThan(1024 * 1024);
    for (const encoding of ['identity', 'gzip', 'identity']) {
      const again = await ask(path, key, requestId, { 'accept-encoding': encoding });
      expect(again.status).toBe(200);
      expect(again.text === first.text).toBe(true);
      expect(again.headers.get('ratelimit')).toBe(first.headers.get('ratelimit'));
    }
    expect(await usedBy(key)).toBe(1);
    const atOnce = newId();
    await Promise.all(Array.from({ length: 3 }, () => ask(path, key, atOnce)));
    expect(await usedBy(key)).toBe(2);
    await ask(path, key, newId());
    expect(await usedBy(key)).toBe(3);
  });

  test('is charged again two minutes after the first response, however often it was repeated', async () => {
    const key = await api.service.key(series.plan);
    const requestId = newId();
    const path = `/rates/time-series?${range()}&metadata=false`;
    await ask(path, key, requestId);
    api.service.clock.time += 119_000;
    await ask(path, key, requestId);
    expect(await usedBy(key)).toBe(1);
    api.service.clock.time += 2_000;
    await ask(path, key, requestId);
    expect(await usedBy(key)).toBe(2);
  });

  test('is refused once its prices have changed: it is neither charged twice nor polled for free', async () => {
    const key = await api.service.key(series.plan);
    const requestId = newId();
    const path = `/rates/time-series?${range()}`;
    await ask(path, key, requestId);
    await api.service.publish(series.symbols[3]!, { '2022-02-02': 4242.5 });
    expectRefusal(await ask(path, key, requestId), 409, 'already_charged');
    expect(await usedBy(key)).toBe(1);
    expect((await ask(path, key, newId())).text).toContain('4242.5');
    expect(await usedBy(key)).toBe(2);
  });

  test('is refused if it reads the ledger, which costs a unit each time', async () => {
    const key = await api.service.key(series.plan);
    const requestId = newId();
    const path = `/rates/time-series?${range()}&asOf=2024-05-15`;
    expect((await ask(path, key, requestId)).text.length).toBeGreaterThan(1024 * 1024);
    expectRefusal(await ask(path, key, requestId), 409, 'already_charged');
    expect(await usedBy(key)).toBe(1);
  });

  test('is no pass for another format', async () => {
    const key = await api.service.key(series.plan);
    const requestId = newId();
    const path = `/rates/time-series?${range()}`;
    await ask(path, key, requestId);
    expectRefusal(await ask(path, key, requestId, { accept: 'text/csv' }), 409, 'already_charged');
    expect(await usedBy(key)).toBe(1);
  });

  test('takes little memory', async () => {
    const key = await api.service.key(series.plan);
    const keptBytes = async () => {
      const { text } = await api.ask('/metrics');
      return Number(/openpit_cache_bytes\{cache="idempotent_answers"\} (\d+)/.exec(text)![1]);
    };
    const before = await keptBytes();
    await ask(`/rates/time-series?${range()}`, key, newId());
    expect((await keptBytes()) - before).toBeWithin(100, 2_000);
  });

  test('of a table of CSV is not kept, even if the table is in memory', async () => {
    const key = await api.service.key(series.plan);
    const entriesOf = async (cache: string) => {
      const { text } = await api.ask('/metrics');
      return Number(new RegExp(`openpit_cache_entries\\{cache="${cache}"\\} (\\d+)`).exec(text)![1]);
    };
    const before = await entriesOf('idempotent_answers');
    const path = `/rates/time-series.csv?symbols=${series.symbols.slice(0, 5)}&startDate=${series.startDate}&endDate=${series.endDate}`;
    for (let i = 0; i < 3; i++) expect((await ask(path, key, newId())).status).toBe(200);
    expect(await entriesOf('tables')).toBe(1);
    expect(await entriesOf('idempotent_answers')).toBe(before);
  });

  test('of the market view is charged once, and may be newer: the charge pays for newer quotes for an hour', async () => {
    const [like] = await api.service.ledger.symbols.list();
    const record = recordOf(like!);
    const text = 'long '.repeat(38).trim();
    const symbols = Array.from({ length: 1_500 }, (_, i) => {
      const currency = { ...record.currency, name: text };
      return { ...record, code: `LONG-${i}`, name: text, category: text, currency };
    });
    await api.service.ledger.symbols.upsert(symbols, []);
    await api.service.core.follow();
    const key = await api.service.key(series.plan);
    const requestId = newId();
    expect((await ask('/market', key, requestId)).text.length).toBeGreaterThan(1024 * 1024);
    await api.service.tick('XAU', 2401);
    api.service.clock.time += 6_000;
    const again = await ask('/market', key, requestId);
    expect(again.text).toContain('2401');
    const visit = again.headers.get('openpit-visit');
    expect((await api.ask(`/market/quotes?visit=${visit}`, { key })).status).toBe(200);
    expect(await usedBy(key)).toBe(1);
  });
});
