import { afterAll, expect, test } from 'bun:test';
import { apiOn } from '../support/api.ts';
import { onEachEngine } from '../support/ledger.ts';
import { MINUTE, NOON, openTestService, type TestService } from '../support/service.ts';

const LATEST = '/rates/latest?symbols=XAU';
const BARE = `${LATEST}&metadata=false`;
const TODAY = '/rates/historical?symbols=XAU&date=2024-05-15';
const FLUCTUATION = '/rates/fluctuation?symbols=XAU&startDate=2024-05-14&endDate=2024-05-15';
const GZIP = { 'accept-encoding': 'gzip' };
const IDENTITY = { 'accept-encoding': 'identity' };

/** Headers that differ from request to request anyway. */
const VARYING = ['date', 'x-request-id', 'ratelimit', 'etag'];

onEachEngine('what free responses reveal', (engine) => {
  const opened: TestService[] = [];
  const open = async (options: Parameters<typeof openTestService>[1] = {}) => {
    const service = await openTestService(engine, { now: NOON, ...options });
    opened.push(service);
    return service;
  };
  afterAll(async () => {
    for (const service of opened) await service.close();
  });
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
    await service.tick('XAU', 2377.4);
    await service.setPlan({ name: 'spent', quota: 0 });
  });
  const tagOf = async (path: string) =>
    (await api.ask(path, { method: 'HEAD', headers: IDENTITY })).headers.get('etag')!;

  test('an exhausted account cannot check a guessed price against a tag', async () => {
    const key = await api.service.key('spent');
    const head = async (path: string) => {
      const reply = await api.ask(path, { key, method: 'HEAD', headers: IDENTITY });
      expect(reply.status).toBe(200);
      return BigInt(`0x${/"([0-9a-z]+)"/.exec(reply.headers.get('etag')!)![1]!.slice(0, 16)}`);
    };
    // The attack on an unkeyed hash: derive its seed from a response without prices, then try prices.
    const empty = '{"success":true,"startDate":"1900-01-01","endDate":"1900-01-02","rates":{}}';
    const hash = (text: string) => Bun.hash.xxHash3(new TextEncoder().encode(text));
    const path = '/rates/time-series?symbols=XAU&startDate=1900-01-01&endDate=1900-01-02&metadata=false';
    const seed = (await head(path)) ^ hash(empty);
    const target = await head(BARE);
    for (let cents = 237_000; cents < 238_000; cents++) {
      expect(hash(`"rates":{"XAU":${cents / 100}}}`) ^ seed).not.toBe(target);
    }
  });

  test('two ledgers with the same epoch and the same prices have different tags', async () => {
    const [one, other] = [await open(), await open()];
    for (const service of [one, other]) {
      await service.ledger.engine.write(
        (tx) => tx`UPDATE meta SET value = ${'same'} WHERE name = ${'epoch'}`,
      );
      await service.publish('XAU', { '2024-05-14': 2358.2 });
    }
    const ask = async (service: TestService) => {
      const response = await service.get(BARE, await service.key(), { headers: IDENTITY });
      return { text: await response.text(), etag: response.headers.get('etag') };
    };
    const [here, there] = [await ask(one), await ask(other)];
    expect(here.text).toBe(there.text);
    expect(here.etag).not.toBe(there.etag);
  });

  test('replicas on one ledger have the same tags', async () => {
    const replica = await open({ ledgerUrl: api.service.ledgerUrl });
    await replica.core.follow();
    for (const path of [LATEST, BARE, TODAY, FLUCTUATION, '/symbols']) {
      const response = await replica.get(path, api.key, { method: 'HEAD', headers: IDENTITY });
      expect(response.headers.get('etag'), path).toBe(await tagOf(path));
    }
  });

  test('the secret appears in no response, metric or log line', async () => {
    const secret = (await api.service.ledger.meta('etag-secret'))!;
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    const texts = [];
    for (const path of [LATEST, '/symbols', '/usage', '/health', '/metrics', '/openapi.json']) {
      const { text, headers } = await api.ask(path);
      texts.push(text, JSON.stringify([...headers]));
    }
    expect([...texts, ...api.service.logLines].filter((text) => text.includes(secret))).toEqual([]);
  });

  test('a price that returns to an earlier value gets a new tag', async () => {
    const { service } = api;
    const tags = new Map<string, string>();
    for (const price of [2380, 2381, 2380]) {
      service.clock.time += MINUTE;
      await service.tick('XAU', price);
      for (const path of [BARE, TODAY, `${TODAY}&metadata=false`, FLUCTUATION]) {
        const tag = await tagOf(path);
        expect(tags.get(tag), `${path} at ${price}`).toBeUndefined();
        tags.set(tag, `${path} at ${price}`);
      }
    }
  });

  test('ticks of symbols that have prices do not change the tag of /symbols', async () => {
    const before = await tagOf('/symbols');
    await api.service.tick('XAU', 2390.1);
    expect(await tagOf('/symbols')).toBe(before);
  });

  /** The headers of free requests, while a response has few digits and while it has many. */
  async function freeHeaders(paths: readonly string[], headers: Record<string, string>, method: string) {
    const seen: unknown[] = [];
    for (const path of paths) {
      const reply = await api.ask(path, { method, headers });
      seen.push([...reply.headers].filter(([name]) => !VARYING.includes(name)).sort());
    }
    return seen;
  }

  test('HEAD and 304 reveal nothing about the length of the body', async () => {
    const { service } = api;
    const wide = 'XAU,XAG,PL,PA';
    const paths = [
      LATEST,
      BARE,
      `${LATEST}&unit=kg`,
      `${LATEST}&format=csv`,
      `/rates/latest?symbols=${wide}`,
      `/market?symbols=${wide}`,
      `/rates/time-series?symbols=${wide}&startDate=2024-05-01&endDate=2024-05-14&metadata=false`,
    ];
    const publish = async (price: number) => {
      for (const code of wide.split(',')) {
        const days = Array.from({ length: 4 }, (_, i) => [`2024-05-0${i + 6}`, price]);
        await service.publish(code, Object.fromEntries([...days, ['2024-05-14', price]]));
        service.clock.time += 1000;
        await service.tick(code, price);
      }
      service.clock.time += 5_000; // the market view is up to five seconds old
    };
    const lengths = async () =>
      Promise.all(paths.map(async (path) => (await api.ask(path, { headers: IDENTITY })).text.length));
    const all = async () => [
      await freeHeaders(paths, GZIP, 'HEAD'),
      await freeHeaders(paths, IDENTITY, 'HEAD'),
      await freeHeaders(paths, { ...GZIP, 'if-none-match': '*' }, 'GET'),
    ];
    await publish(2);
    const [short, shortLengths] = [await all(), await lengths()];
    await publish(2345.678901234);
    const [long, longLengths] = [await all(), await lengths()];
    expect(long).toEqual(short);
    // The last one crosses the size from which bodies are compressed.
    expect(shortLengths.at(-1)).toBeLessThan(1024);
    expect(longLengths.at(-1)).toBeGreaterThan(1024);
    expect(JSON.stringify(long)).not.toMatch(/content-(length|encoding)/);
  });

  test('a 304 has the tag that the client sent', async () => {
    const compressed = (await api.ask('/symbols', { headers: GZIP })).headers.get('etag')!;
    const plain = (await api.ask('/symbols', { headers: IDENTITY })).headers.get('etag')!;
    expect(compressed).toBe(plain.replace(/"$/, '-gzip"'));
    for (const [sent, expected] of [
      [compressed, compressed],
      [plain, plain],
      ['*', plain],
      [`"a", ${compressed}`, compressed],
    ]) {
      for (const headers of [GZIP, IDENTITY]) {
        const reply = await api.ask('/symbols', { headers: { ...headers, 'if-none-match': sent! } });
        expect([reply.status, reply.headers.get('etag')]).toEqual([304, expected!]);
      }
    }
  });
});
