import { expect, test } from 'bun:test';
import { parseDay, printDay } from '../../../src/market/day.ts';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { NOON, openTestService } from '../../support/service.ts';

const DAY = '/rates/historical?symbols=XAU&date=2024-05-14';
const LATEST = '/rates/latest?symbols=XAU';
const IDENTITY = { 'accept-encoding': 'identity' };

onEachEngine('caching', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-13': 2336, '2024-05-14': 2358 });
    await service.publish('STEEL', { '2024-05-14': 3600 });
  });
  const tagOf = async (path: string, key = api.key) =>
    (await api.ask(path, { key, headers: IDENTITY })).headers.get('etag')!;
  const cachingOf = async (path: string) => (await api.ask(path)).headers.get('cache-control');

  test('the same response has the same tag, strong for days and weak for latest', async () => {
    expect(await tagOf(DAY)).toMatch(/^"[0-9a-z]+"$/);
    expect(await tagOf(DAY)).toBe(await tagOf(DAY));
    expect(await tagOf(LATEST)).toMatch(/^W\/"[0-9a-z]+"$/);
    const before = await tagOf(LATEST);
    api.service.clock.time += 5_000; // the timestamp moves, the prices do not
    expect(await tagOf(LATEST)).toBe(before);
  });

  test('a correction changes the tag; a tick or a correction of another symbol does not', async () => {
    const before = { day: await tagOf(DAY), latest: await tagOf(LATEST) };
    await api.service.tick('XAG', 28.5);
    await api.service.publish('PL', { '2024-05-14': 1065 });
    expect({ day: await tagOf(DAY), latest: await tagOf(LATEST) }).toEqual(before);
    await api.service.publish('XAU', { '2024-05-14': 2358.5 });
    expect(await tagOf(DAY)).not.toBe(before.day);
    expect(await tagOf(LATEST)).not.toBe(before.latest);
  });

  test('a tick changes the tag of latest and of today, but not of yesterday', async () => {
    const today = '/rates/historical?symbols=XAU&date=2024-05-15';
    const before = [await tagOf(LATEST), await tagOf(today), await tagOf(DAY)];
    await api.service.tick('XAU', 2377);
    const after = [await tagOf(LATEST), await tagOf(today), await tagOf(DAY)];
    expect(after.map((tag, i) => tag === before[i])).toEqual([false, false, true]);
  });

  test('the tag differs by representation: symbols, order, metadata, gzip, delay', async () => {
    await api.service.setPlan({ name: 'late', delaySeconds: 60 });
    const late = await api.service.key('late');
    const gzipped = await api.ask('/symbols', { headers: { 'accept-encoding': 'gzip' } });
    const tags = [
      await tagOf('/rates/historical?symbols=XAU,STEEL&date=2024-05-14'),
      await tagOf('/rates/historical?symbols=STEEL,XAU&date=2024-05-14'),
      await tagOf(DAY),
      await tagOf(`${DAY}&metadata=false`),
      await tagOf(DAY, late),
      await tagOf('/symbols'),
      gzipped.headers.get('etag')!,
    ];
    expect(new Set(tags).size).toBe(tags.length);
  });

  test('a corrected number of decimals changes the averages of a long table, and its tag', async () => {
    const first = parseDay('2020-01-01')!;
    const days = Array.from({ length: 1_200 }, (_, i) => [printDay(first + i), 1_000 + (i % 7)] as const);
    await api.service.publish('TIN', Object.fromEntries(days));
    const table =
      '/rates/history?symbols=TIN&startDate=2020-01-01&endDate=2023-12-31&interval=year&format=csv';
    const { ledger, core } = api.service;
    const tin = (await ledger.symbols.list()).find(({ code }) => code === 'TIN')!;
    const before = await api.ask(table);
    expect((await api.ask(table)).text).toBe(before.text);
    await ledger.symbols.upsert([{ ...tin, decimals: tin.decimals + 3 }], []);
    await core.follow();
    const after = await api.ask(table);
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
    expect(after.text).not.toBe(before.text);
  });

  test('a 304 to a client that accepts gzip has the tag of the gzip response', async () => {
    const headers = { 'accept-encoding': 'gzip' };
    const etag = (await api.ask('/symbols', { headers })).headers.get('etag')!;
    expect(etag).toEndWith('-gzip"');
    const again = await api.ask('/symbols', { headers: { ...headers, 'if-none-match': etag } });
    expect([again.status, again.headers.get('etag')]).toEqual([304, etag]);
  });

  test('plans with the same delay share a tag', async () => {
    expect(await tagOf(DAY, await api.service.key('demo'))).toBe(await tagOf(DAY));
  });

  test('closed days are cacheable for a short time, anything with today is no-cache, errors are no-store', async () => {
    const range = (name: string, last: string) =>
      `/rates/${name}?symbols=XAU&startDate=2024-05-13&endDate=${last}`;
    for (const path of [DAY, range('time-series', '2024-05-14'), range('fluctuation', '2024-05-14')]) {
      expect(await cachingOf(path), path).toBe('private, max-age=60');
    }
    const open = ['2024-05-15', '2024-05-20'];
    const ranges = open.flatMap((last) => [range('time-series', last), range('fluctuation', last)]);
    for (const path of ['/symbols', '/rates/historical?symbols=XAU&date=2024-05-15', ...ranges]) {
      expect(await cachingOf(path), path).toBe('private, no-cache');
    }
    expect(await cachingOf('/rates/latest?symbols=NOPE')).toBe('no-store');
    expect(await cachingOf('/nowhere')).toBe('no-store');
  });

  test('no browser stores the latest rates, and a client that keeps the tag itself gets 304', async () => {
    for (const path of [LATEST, `${LATEST}&format=csv`, `${LATEST}&metadata=false`]) {
      const first = await api.ask(path);
      expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-store']);
      const headers = { 'if-none-match': first.headers.get('etag')! };
      const again = await api.ask(path, { headers });
      expect([again.status, again.headers.get('cache-control')]).toEqual([304, 'no-store']);
    }
  });

  test('a day is open while it is open for any of the symbols', async () => {
    // At 16:00 UTC, steel in Shanghai trades for tomorrow and gold in New York still for today.
    expect(await cachingOf('/rates/historical?symbols=STEEL,XAU&date=2024-05-15')).toBe('private, no-cache');
    expect(await cachingOf('/rates/historical?symbols=STEEL,XAU&date=2024-05-14')).toBe(
      'private, max-age=60',
    );
  });

  test('after midnight UTC, the previous day is open in markets where it has not ended', async () => {
    const { service } = api;
    const before = service.clock.time;
    service.clock.time = Date.UTC(2024, 4, 16, 0, 30);
    await service.publish('MILK', { '2024-05-14': 20 }); // Chicago
    const path = (symbols: string) => `/rates/historical?symbols=${symbols}&date=2024-05-15`;
    expect(await cachingOf(path('XAU,MILK'))).toBe('private, no-cache');
    expect(await cachingOf(path('XAU'))).toBe('private, max-age=60');
    service.clock.time = before;
  });

  test('on a Saturday, Saturday counts as today and Friday is closed', async () => {
    const { service } = api;
    const before = service.clock.time;
    service.clock.time = Date.UTC(2024, 4, 18, 12);
    const path = (date: string) => `/rates/historical?symbols=XAU&date=${date}`;
    expect(await cachingOf(path('2024-05-18'))).toBe('private, no-cache');
    expect(await cachingOf(path('2024-05-17'))).toBe('private, max-age=60');
    service.clock.time = before;
  });

  test('a day that has ended but is not yet in a delayed view is no-cache there', async () => {
    const { service } = api;
    await service.setPlan({ name: 'hour', delaySeconds: 3600 });
    const hour = await service.key('hour');
    const before = service.clock.time;
    service.clock.time = Date.UTC(2024, 4, 16, 0, 30);
    const path = '/rates/historical?symbols=POUL,METH&date=2024-05-15'; // no exchange: their day is the UTC day
    await service.publish('POUL', { '2024-05-14': 1 });
    await service.publish('METH', { '2024-05-14': 1 });
    expect(await cachingOf(path)).toBe('private, max-age=60');
    expect((await api.ask(path, { key: hour })).headers.get('cache-control')).toBe('private, no-cache');
    service.clock.time = before;
  });

  test('every response varies by key, format and encoding', async () => {
    for (const path of ['/symbols', LATEST, '/usage', '/nowhere', '/rates/latest']) {
      expect((await api.ask(path)).headers.get('vary')).toBe('x-api-key, Accept, Accept-Encoding');
    }
  });

  test('another epoch of the ledger has other tags for the same prices', async () => {
    const other = await openTestService(engine, { now: NOON });
    await other.ledger.engine.write((tx) => tx`UPDATE meta SET value = ${'other'} WHERE name = ${'epoch'}`);
    await other.publish('PA', { '2024-05-14': 970 });
    await api.service.publish('PA', { '2024-05-14': 970 });
    const path = '/rates/historical?symbols=PA&date=2024-05-14';
    const [here, there] = [await api.ask(path), await other.get(path, await other.key())];
    expect(await there.text()).toBe(here.text);
    expect(there.headers.get('etag')).not.toBe(here.headers.get('etag'));
    await other.close();
  });
});
