import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { ConnectionLost, Openpit } from '../../client/src/index.ts';
import { apiOn } from '../support/api.ts';
import { FaultyProxy } from '../support/http/faulty-proxy.ts';
import { type LongSeries, publishLongSeries } from '../support/long-series.ts';
import { eventually } from '../support/program.ts';

const RANGE = { symbols: ['XAU'], from: '2024-05-14', to: '2024-05-14' };

describe('a call whose answer is lost', () => {
  let long: LongSeries;
  const api = apiOn('sqlite', {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-13': 2336.1, '2024-05-14': 2358.2 });
    long = await publishLongSeries(service);
    service.clock.time += 60_000;
  });
  let proxy: FaultyProxy;
  let key: string;
  beforeEach(async () => {
    proxy = await FaultyProxy.open(api.service.url);
    key = await api.service.key('unlimited');
  });
  afterEach(() => proxy.close());
  const clientOf = (version?: 'v2') =>
    new Openpit({ url: proxy.url, key, retries: 3, ...(version && { version }) });
  const used = async () => (await api.ask('/usage', { key })).body.used;
  /** Loses the first response for each matching path. */
  const loseFirst = (path: RegExp) => {
    const lost = new Set<string>();
    proxy.fateOf = (target) => {
      if (!path.test(target) || lost.has(target)) return 'pass';
      lost.add(target);
      return 'lose';
    };
  };
  const requestsFor = (path: string) => proxy.requests.filter(({ target }) => target.includes(path)).length;

  test('is repeated with the same id, and counted once', async () => {
    loseFirst(/latest/);
    expect((await clientOf().latest(['XAU'])).rates.XAU).toBe(2358.2);
    expect(await used()).toBe(1);
    const ids = proxy.requests
      .filter(({ target }) => target.includes('latest'))
      .map(({ headers }) => /x-request-id: (\S+)/i.exec(headers)?.[1]);
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(1);
  });

  test('is not repeated while another process serves, which would not recognize it', async () => {
    const other = { id: 'other', name: 'other', version: '1', phase: 'ready', revision: 0 };
    await api.service.ledger.replicas.beat(other);
    proxy.fateOf = (target) => (target.includes('latest') ? 'lose' : 'pass');
    const error = await clientOf()
      .latest(['XAU'])
      .catch((error) => error);
    await api.service.ledger.replicas.leave(other.id);
    expect(error).toBeInstanceOf(ConnectionLost);
    expect(error).toMatchObject({
      mayBeCounted: true,
      advice: expect.stringContaining('may have been counted'),
    });
    expect(await used()).toBe(1);
  });

  test('is not repeated where a gateway replaces the id of the request', async () => {
    proxy.alterHead = (head) => head.replace(/^x-request-id: .*$/im, 'X-Request-Id: of-the-gateway');
    proxy.fateOf = (target) => (target.includes('historical') ? 'lose' : 'pass');
    const error = await clientOf()
      .historical(['XAU'], '2024-05-14')
      .catch((error) => error);
    expect(error).toBeInstanceOf(ConnectionLost);
    expect(requestsFor('capabilities')).toBe(1); // it sent one request, and gave up
  });

  test('that reads the ledger is not repeated, because it costs a unit whatever its outcome', async () => {
    proxy.fateOf = (target) => (/asOf|revisions|interval=/.test(target) ? 'lose' : 'pass');
    const calls = [
      () => clientOf().historical(['XAU'], '2024-05-14', { asOf: '2024-05-15' }),
      () => clientOf().get('/rates/revisions?symbols=XAU&date=2024-05-14'),
      () => Array.fromAsync(clientOf().history({ ...RANGE, interval: 'hour' })),
      () => Array.fromAsync(clientOf().history({ ...RANGE, interval: '5min' })),
    ];
    for (const call of calls) {
      const error = await call().catch((error) => error);
      expect(error).toBeInstanceOf(ConnectionLost);
    }
    expect(await used()).toBe(4);
  });

  test('for a table of CSV or NDJSON is not repeated, because the service does not keep long ones', async () => {
    proxy.fateOf = (target) => (/history/.test(target) ? 'lose' : 'pass');
    const query = { symbols: ['XAU'], startDate: '2024-05-14', endDate: '2024-05-14' };
    const calls = [
      () => clientOf().request('/rates/history.csv', query),
      () => clientOf().request('/rates/history', { ...query, format: 'NDJSON' }),
      () => clientOf().request('/rates/history', query, { headers: { Accept: 'text/csv' } }),
    ];
    for (const call of calls) {
      const error = await call().catch((error) => error);
      expect(error).toBeInstanceOf(ConnectionLost);
      expect(error.mayBeCounted).toBe(true);
    }
    expect(await used()).toBe(3);
    expect(requestsFor('capabilities')).toBe(0);
  });

  test('above 1 MB is repeated and counted once, and reported as lost if its prices have changed meanwhile', async () => {
    key = await api.service.key(long.plan);
    proxy.alterHead = (head) => head.replace(/^accept-encoding: .*$/im, 'Accept-Encoding: identity');
    const { symbols, startDate, endDate } = long;
    const call = () =>
      clientOf().request('/rates/time-series', { symbols: symbols.join(), startDate, endDate });
    loseFirst(/time-series/);
    expect((await (await call()).text()).length).toBeGreaterThan(1024 * 1024);
    expect(requestsFor('time-series')).toBe(2);
    expect(await used()).toBe(1);
    let hasChanged = false;
    proxy.fateOf = (target) => (/time-series/.test(target) && !hasChanged ? 'lose' : 'pass');
    const calling = call().catch((error) => error);
    await eventually(async () => (await used()) === 2);
    await api.service.publish(symbols[3]!, { '2022-02-02': 4242.5 });
    hasChanged = true;
    const error = await calling;
    expect(error).toBeInstanceOf(ConnectionLost);
    expect(error).toMatchObject({ code: 'already_charged', mayBeCounted: true });
    expect(await used()).toBe(2);
  });

  test('of a free path is repeated without asking', async () => {
    loseFirst(/usage/);
    expect((await clientOf().usage()).used).toBe(0);
    expect(requestsFor('capabilities')).toBe(0);
  });

  test('of a service without capabilities, such as a hosted one, is not repeated', async () => {
    proxy.fateOf = (target) => (/latest|capabilities/.test(target) ? 'lose' : 'pass');
    const error = await clientOf('v2')
      .latest(['XAU'])
      .catch((error) => error);
    expect(error).toBeInstanceOf(ConnectionLost);
    expect(await used()).toBe(1);
  }, 60_000);
});

describe('the burst limit', () => {
  const api = apiOn('sqlite', {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-13': 2336.1, '2024-05-14': 2358.2 });
    await service.setPlan({ name: 'slow', burstPerSecond: 6 });
    const { clock } = service;
    const start = clock.time - performance.now();
    Object.defineProperty(clock, 'time', { get: () => Math.floor(start + performance.now()) });
  });
  /** Makes 16 calls at once, which take three seconds. */
  const callOften = async (options: { timeoutMs?: number } = {}) => {
    const key = await api.service.key('slow');
    const client = new Openpit({ url: api.service.url, key, retries: 0, ...options });
    const units = ['kg', 'g', 'Lb', 'MT', 'Cwt', 'ST', 'LT', 'oz'];
    const calls = units.flatMap((unit) => [
      client.latest(['XAU'], { unit }),
      client.historical(['XAU'], '2024-05-13', { unit }),
    ]);
    return Promise.all(calls);
  };

  test('is never reached by a client, however many calls it makes at once', async () => {
    expect(await callOften()).toHaveLength(16);
  });

  test('does not take from the timeout of calls that wait for their turn', async () => {
    expect(await callOften({ timeoutMs: 1_500 })).toHaveLength(16);
  });
});
