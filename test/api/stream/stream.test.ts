import { afterEach, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { SCHEMAS } from '../../../src/api/openapi/schemas/schemas.ts';
import { hashKey } from '../../../src/gate/key.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { EventReader } from '../../support/http/events.ts';
import { rawRequest } from '../../support/http/raw-download.ts';
import { onBunServe } from '../../support/http-server.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { OPERATOR_HEADERS, OPERATOR_SETTINGS } from '../../support/operator.ts';
import { eventually } from '../../support/program.ts';
import { MINUTE } from '../../support/service.ts';

onEachEngine('GET /rates/stream', (engine) => {
  const api = apiOn(engine, { settings: OPERATOR_SETTINGS }, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358 });
    await service.publish('XAG', { '2024-05-14': 28.5 });
    await service.setPlan({ name: 'late', delaySeconds: 600 });
  });
  const opened: EventReader[] = [];
  const closeAll = () => {
    for (const reader of opened.splice(0)) reader.close();
  };
  afterEach(closeAll);
  /** Publishes a price one second later. */
  const tick = (code: string, price: number) => {
    api.service.clock.time += 1_000;
    return api.service.tick(code, price);
  };
  const listen = async (symbols: string, key = api.key, headers: Record<string, string> = {}) => {
    const url = `${api.service.url}/rates/stream?symbols=${symbols}`;
    const reader = await EventReader.open(url, { 'x-api-key': key, ...headers });
    opened.push(reader);
    return reader;
  };
  const usedBy = async (key: string) => (await api.ask('/usage', { key })).body.used;
  const foundBy = async (key: string) => (await api.service.ledger.accounts.byKeyHash(hashKey(key)))!;

  test('it starts with the newest price of each symbol, then sends each change, as documented', async () => {
    const stream = await listen('xau,XAG');
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(stream.response.headers.get('cache-control')).toBe('no-store');
    const first = await stream.take(2);
    expect(first.map(({ data }) => [data.symbol, data.rate])).toEqual([
      ['XAU', 2358],
      ['XAG', 28.5],
    ]);
    await tick('XAG', 29.25);
    const [changed] = await stream.take(1);
    expect(changed).toMatchObject({ event: 'rate', data: { symbol: 'XAG', rate: 29.25, source: 'test' } });
    for (const { data } of [...first, changed!]) SCHEMAS.StreamRate.parse(data);
    expect(new Set([...first, changed!].map(({ id }) => id)).size).toBe(3);
  });

  test('events have the codes as requested, aliases included, and symbols that were not requested are not sent', async () => {
    const stream = await listen('GOLD');
    expect((await stream.take(1))[0]!.data.symbol).toBe('GOLD');
    await tick('XAG', 30);
    await tick('XAU', 2400);
    expect((await stream.take(1))[0]!.data).toMatchObject({ symbol: 'GOLD', rate: 2400 });
  });

  test('a formula, ad hoc or named, is sent whenever one of its symbols changes', async () => {
    const formula = encodeURIComponent('{XAU} / {XAG}');
    await tick('XAU', 2_400);
    await tick('XAG', 30);
    const stream = await listen(`${formula},GOLDSILVER`);
    const first = await stream.take(2);
    expect(first.map(({ data }) => [data.symbol, data.rate])).toEqual([
      ['{XAU}/{XAG}', 80],
      ['GOLDSILVER', 80],
    ]);
    for (const { data } of first) SCHEMAS.StreamRate.parse(data);
    await tick('XAG', 32);
    expect((await stream.take(2)).map(({ data }) => data.rate)).toEqual([75, 75]);
    await tick('XAU', 2_432);
    expect((await stream.take(2)).map(({ data }) => data.rate)).toEqual([76, 76]);
  });

  test('it starts with the newest price also if its symbol is unloaded while the connection is charged', async () => {
    const { quota } = api.service.ledger;
    const { sync } = quota;
    const key = await api.service.key();
    await api.service.publish('PL', { '2024-05-14': 1060 });
    quota.sync = async (...args) => {
      quota.sync = sync;
      await api.service.publish('PL', { '2014-05-14': 1475, '2024-05-14': 1065 }); // too many days to be applied
      return quota.sync(...args);
    };
    const stream = await listen('PL', key);
    expect((await stream.take(1))[0]!.data.rate).toBe(1065);
  }, 10_000);

  test('it has the delay that the plan has after the connection is charged', async () => {
    const { service } = api;
    const { quota } = service.ledger;
    const { sync } = quota;
    for (const change of ['the plan', 'the account'] as const) {
      const name = change.replace(' ', '-');
      await service.setPlan({ name, delaySeconds: 0 });
      const key = await service.key(name);
      const { account } = await foundBy(key);
      await tick('XAU', 2_700);
      quota.sync = async (...args) => {
        quota.sync = sync;
        if (change === 'the plan') await service.setPlan({ name, delaySeconds: 600 });
        else await service.ledger.accounts.update(account.id, { plan: 'late' });
        await service.core.follow();
        return quota.sync(...args);
      };
      const stream = await listen('XAU', key);
      expect((await stream.take(1))[0]!.data.rate).not.toBe(2_700);
    }
  });

  test('a delayed plan receives a price when its delay has passed, without polling', async () => {
    const { service } = api;
    const stream = await listen('XAU', await service.key('late'));
    await stream.take(1);
    await tick('XAU', 2500);
    await service.tick('XAU', 2510, service.clock.time + MINUTE);
    service.clock.time += 5 * MINUTE;
    await service.core.follow();
    service.clock.time += 5 * MINUTE;
    await service.core.follow();
    expect((await stream.take(1))[0]!.data.rate).toBe(2500);
    service.clock.time += MINUTE;
    await service.core.follow();
    expect((await stream.take(1))[0]!.data.rate).toBe(2510);
  });

  test('with Last-Event-ID it sends only later changes, or everything if the id is unknown', async () => {
    const before = await listen('XAU,XAG');
    const last = (await before.take(2)).at(-1)!;
    await before.close();
    await tick('XAU', 2444);
    const after = await listen('XAU,XAG', api.key, { 'last-event-id': last.id });
    expect((await after.take(1))[0]!.data).toMatchObject({ symbol: 'XAU', rate: 2444 });
    await tick('XAG', 31);
    expect((await after.take(1))[0]!.data).toMatchObject({ symbol: 'XAG', rate: 31 });
    const elsewhere = await listen('XAU,XAG', api.key, { 'last-event-id': 'other-0-99' });
    expect(await elsewhere.take(2)).toHaveLength(2);
  });

  test('with Last-Event-ID and other symbols it sends everything', async () => {
    const before = await listen('XAU');
    const [last] = await before.take(1);
    await before.close();
    const after = await listen('XAU,XAG', api.key, { 'last-event-id': last!.id });
    expect((await after.take(2)).map(({ data }) => data.symbol)).toEqual(['XAU', 'XAG']);
  });

  test('with Last-Event-ID it sends a formula only if it has changed meanwhile', async () => {
    const formula = encodeURIComponent('{XAU}*2');
    const before = await listen(formula);
    const [last] = await before.take(1);
    before.close();
    const other = await listen('XAG'); // another stream publishes a change while nobody reads the formula
    await other.take(1);
    await tick('XAG', 31.5);
    await other.take(1);
    const after = await listen(formula, api.key, { 'last-event-id': last!.id });
    await tick('XAU', 2_450);
    expect((await after.take(1))[0]!.data).toMatchObject({ symbol: '{XAU}*2', rate: 4_900 });
  });

  test('it ends when a formula in it is redefined or deleted, or a symbol deleted, and not when others are', async () => {
    const operate = async (method: string, path: string, body?: object) => {
      const options = { key: '', headers: OPERATOR_HEADERS, method };
      const sent = body === undefined ? options : { ...options, body: JSON.stringify(body) };
      expect((await api.ask(`/admin/${path}`, sent)).status).toBeLessThan(300);
      await api.service.core.follow();
    };
    const define = (code: string, expression: string, unit = 'none') =>
      operate('PUT', `formulas/${code}`, { name: code, unit, currency: 'none', expression });
    const message = 'The stream ends: a symbol or formula in it was redefined or deleted. Connect again.';
    const end = { event: 'end', data: { code: 'unavailable', message } };
    await define('MINE', '{XAU}/{XAG}');
    const untouched = await listen('XAU,GOLDSILVER');
    await untouched.take(2);
    for (const change of [
      () => define('MINE', '{XAU}-{XAG}'),
      () => define('MINE', '{XAU}-{XAG}', 'T.oz'),
      () => operate('DELETE', 'formulas/MINE'),
    ]) {
      const stream = await listen('XAU,MINE');
      await stream.take(2);
      await change();
      expect(await stream.next()).toMatchObject(end);
      expect(await stream.next()).toBeUndefined();
    }
    await api.service.publish('ZINC', { '2024-05-14': 2_900 });
    const deleted = await listen('ZINC');
    const inFormula = await listen(encodeURIComponent('{ZINC}*2'));
    for (const stream of [deleted, inFormula]) await stream.take(1);
    await operate('DELETE', 'symbols/ZINC?confirm=ZINC');
    for (const stream of [deleted, inFormula]) expect(await stream.next()).toMatchObject(end);
    await tick('XAU', 2_460);
    expect((await untouched.take(2)).map(({ data }) => data.symbol)).toEqual(['XAU', 'GOLDSILVER']);
  });

  test('it ends when the unit of a symbol in it is corrected, and the next one has the new unit', async () => {
    const { ledger, core, publish } = api.service;
    await publish('TEAK', { '2024-05-14': 300 });
    const teak = (await ledger.symbols.list()).find(({ code }) => code === 'TEAK')!;
    const unitIn = async (stream: EventReader) => (await stream.take(1))[0]!.data.unit;
    for (const symbols of ['TEAK', '%7BTEAK%7D*2']) {
      const stream = await listen(symbols);
      const before = await unitIn(stream);
      const unit = { symbol: 'Pc', name: 'Piece' };
      await ledger.symbols.upsert([{ ...teak, unit }], [], { relabel: true });
      await core.follow();
      expect([before, await unitIn(await listen(symbols))]).toEqual(['Kg', 'Pc']);
      expect(await stream.next()).toMatchObject({ event: 'end', data: { code: 'unavailable' } });
      await ledger.symbols.upsert([teak], [], { relabel: true });
      await core.follow();
    }
  });

  test('a connection costs one unit, and so does each further hundred events after the first hundred', async () => {
    const key = await api.service.key('basic');
    await api.service.setPlan({ name: 'basic', quota: 10_000 });
    const stream = await listen('XAU', key);
    await stream.take(1);
    for (let i = 1; i <= 205; i++) {
      await tick('XAU', 1000 + i);
      await stream.take(1);
    }
    expect(await usedBy(key)).toBe(3);
    await api.service.core.keyUses.flush();
    const { byKey } = (await api.ask('/usage/daily', { key })).body as { byKey: { count: number }[] };
    expect(byKey.reduce((sum, { count }) => sum + count, 0)).toBe(3);
  });

  test.skipIf(onBunServe)(
    'a client that stops sending after its request gets the newest price of each symbol, for one unit',
    async () => {
      const key = await api.service.key('basic');
      for (let i = 1; i <= 20; i++) {
        const headers = `x-api-key: ${key}\r\n`;
        const path = '/rates/stream?symbols=XAU,XAG';
        const { body, isComplete } = await rawRequest(api.service.url, path, { headers, halfClose: true });
        expect(body.toString().match(/^id: /gm)).toHaveLength(2);
        expect(isComplete).toBe(true);
        expect(await usedBy(key)).toBe(i);
      }
    },
  );

  test('when the quota is exhausted it ends with the reason', async () => {
    await api.service.setPlan({ name: 'two', quota: 2 });
    const key = await api.service.key('two');
    await api.ask('/symbols', { key });
    const stream = await listen('XAU', key);
    await stream.take(1);
    for (let i = 1; i <= 99; i++) {
      await tick('XAU', 3000 + i);
      await stream.take(1);
    }
    await tick('XAU', 4000);
    expect(await stream.next()).toMatchObject({ event: 'end', data: { code: 'quota_exhausted' } });
    expect(await stream.next()).toBeUndefined();
    expectRefusal(await api.ask('/rates/stream?symbols=XAU', { key }), 429, 'quota_exhausted');
  });

  test('a revoked key ends its stream within about a second', async () => {
    const { service } = api;
    const key = await service.key('pro');
    const stream = await listen('XAU', key);
    await stream.take(1);
    const { key: known } = await foundBy(key);
    await service.ledger.keys.revoke(known.id, service.clock.time);
    await service.core.follow();
    expect(await stream.next()).toMatchObject({ event: 'end', data: { code: 'invalid_key' } });
    expect(await stream.next()).toBeUndefined();
  });

  test('suspending the account or changing its delay ends a stream too', async () => {
    const { service } = api;
    await service.setPlan({ name: 'moving', delaySeconds: 0 });
    const key = await service.key('moving');
    const stream = await listen('XAU', key);
    await stream.take(1);
    await service.setPlan({ name: 'moving', delaySeconds: 60 });
    const message = "The stream ends: the delay of the account's plan has changed. Connect again.";
    expect(await stream.next()).toMatchObject({ event: 'end', data: { code: 'unavailable', message } });
    const again = await listen('XAU', key);
    await again.take(1);
    const { account } = await foundBy(key);
    await service.ledger.accounts.update(account.id, { status: 'suspended' });
    await service.core.follow();
    expect(await again.next()).toMatchObject({ event: 'end', data: { code: 'account_suspended' } });
  });

  test('a new rule of its key that refuses the client ends a stream too', async () => {
    const { service } = api;
    const key = await service.key('pro');
    const { key: known } = await foundBy(key);
    const inUrl = await EventReader.open(`${service.url}/rates/stream?symbols=XAU&apiKey=${key}`, {});
    opened.push(inUrl);
    const inHeader = await listen('XAU', key);
    for (const stream of [inUrl, inHeader]) await stream.take(1);
    const refused = { event: 'end', data: { code: 'key_not_allowed' } };
    await service.ledger.keys.update(known.id, { headerOnly: true });
    await service.core.follow();
    expect(await inUrl.next()).toMatchObject(refused);
    await service.ledger.keys.update(known.id, { allowedIps: ['192.0.2.1'] });
    await service.core.follow();
    expect(await inHeader.next()).toMatchObject(refused);
  });

  test('invalid requests are refused as on other endpoints, and are free; so is HEAD', async () => {
    const key = await api.service.key('pro');
    expectRefusal(await api.ask('/rates/stream', { key }), 400, 'missing_parameter');
    expectRefusal(await api.ask('/rates/stream?symbols=NOPE', { key }), 404, 'unknown_symbol');
    expectRefusal(await api.ask('/rates/stream?symbols=XAU', { key: '' }), 401, 'missing_key');
    expectRefusal(
      await api.ask('/rates/stream?symbols=XAU', { key, method: 'POST' }),
      405,
      'method_not_allowed',
    );
    expect((await api.ask('/rates/stream?symbols=XAU', { key, method: 'HEAD' })).status).toBe(200);
    expect(await usedBy(key)).toBe(0);
  });

  test('an account may have at most a hundred streams', async () => {
    const key = await api.service.key('unlimited');
    for (let i = 0; i < 100; i++) await listen('XAU', key);
    expectRefusal(await api.ask('/rates/stream?symbols=XAU', { key }), 429, 'rate_limited');
    closeAll();
    await eventually(async () => (await listen('XAU', key)).response.status === 200);
  });

  test('a client that stops reading does not delay the others', async () => {
    const { service } = api;
    const { port } = new URL(service.url);
    const slow = connect(Number(port), '127.0.0.1');
    slow.pause();
    slow.write(`GET /rates/stream?symbols=XAU HTTP/1.1\r\nHost: test\r\nx-api-key: ${api.key}\r\n\r\n`);
    const fast = await listen('XAU');
    await fast.take(1);
    for (let i = 1; i <= 50; i++) {
      await tick('XAU', 5000 + i);
      expect((await fast.take(1))[0]!.data.rate).toBe(5000 + i);
    }
    slow.destroy();
  });

  test('a heartbeat is sent when nothing changes', async () => {
    const stream = await listen('XAU');
    await stream.take(1);
    void stream.next().catch(() => {});
    api.service.clock.time += 5_000;
    await eventually(async () => stream.text.includes(': still here'));
  });
});

onEachEngine('a stopping service', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => service.publish('XAU', { '2024-05-14': 2358 }));

  test('ends its streams and refuses new ones', async () => {
    const url = `${api.service.url}/rates/stream?symbols=XAU`;
    const stream = await EventReader.open(url, { 'x-api-key': api.key });
    await stream.take(1);
    api.service.core.api.drain();
    const message = 'The stream ends: the service is stopping. Connect again.';
    expect(await stream.next()).toMatchObject({ event: 'end', data: { code: 'unavailable', message } });
    expect(await stream.next()).toBeUndefined();
    expectRefusal(await api.ask('/rates/stream?symbols=XAU'), 503, 'unavailable');
  });
});
