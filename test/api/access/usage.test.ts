import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { openTestService } from '../../support/service.ts';

onEachEngine('GET /usage', (engine) => {
  const api = apiOn(engine);

  test('it has plan, quota and usage, then what is left and when it resets', async () => {
    const key = await api.service.key('basic');
    await api.ask('/symbols', { key });
    const resetAt = (await api.service.resetAt()) / 1000;
    expect((await api.ask('/usage', { key })).text).toBe(
      `{"success":true,"plan":"basic","quota":10000,"used":1,"remaining":9999,"resetAt":${resetAt}}`,
    );
  });

  test('it is never counted', async () => {
    const key = await api.service.key('basic');
    for (let i = 0; i < 3; i++) await api.ask('/usage', { key });
    expect((await api.ask('/usage', { key })).body.used).toBe(0);
  });

  test('it is no-store', async () => {
    expect((await api.ask('/usage')).headers.get('cache-control')).toBe('no-store');
  });

  const refusals: [what: string, status: number, path: string, key: string | undefined, method: string][] = [
    ['no key', 401, '/usage', '', 'GET'],
    ['a wrong key', 401, '/usage', 'wrong', 'GET'],
    ['a repeated key', 400, '/usage?apiKey=a&apiKey=b', '', 'GET'],
    ['another method', 405, '/usage', undefined, 'POST'],
    ['a URL that is too long', 414, `/usage?x=${'y'.repeat(9000)}`, undefined, 'GET'],
  ];
  for (const [what, status, path, key, method] of refusals) {
    test(`${what}: ${status}, with the text in "error" and nothing else`, async () => {
      const options = key === undefined ? { method } : { method, key };
      const reply = await api.ask(path, options);
      expect(reply.status).toBe(status);
      expect(Object.keys(reply.body)).toEqual(['success', 'error']);
      expect(reply.body.success).toBe(false);
      expect(String(reply.body.error).length).toBeGreaterThan(20);
    });
  }

  test('under a mount point and with a trailing slash its errors are the same', async () => {
    for (const path of ['/v1/usage', '/v1/usage/', '/usage/']) {
      expect(Object.keys((await api.ask(path, { key: '' })).body)).toEqual(['success', 'error']);
    }
  });

  test('a suspended account, the burst limit and a starting service use "error" too', async () => {
    const { service } = api;
    await service.setPlan({ name: 'slow', burstPerSecond: 1 });
    const key = await service.key('slow');
    await api.ask('/usage', { key });
    const burst = await api.ask('/usage', { key });
    service.core.phase = 'starting';
    const starting = await api.ask('/usage', { key });
    service.core.phase = 'ready';
    const account = (await service.ledger.accounts.list()).find((one) => one.plan === 'slow')!;
    await service.ledger.accounts.update(account.id, { status: 'suspended' });
    await service.core.follow();
    const suspended = await api.ask('/usage', { key });
    expect([burst.status, starting.status, suspended.status]).toEqual([429, 503, 403]);
    for (const { body } of [burst, starting, suspended]) {
      expect(Object.keys(body)).toEqual(['success', 'error']);
    }
  });

  test('with the ledger unreachable it returns what this process knows, marked as inexact and with its time', async () => {
    const service = await openTestService(engine);
    const [served, idle] = [await service.key('basic'), await service.key('basic')];
    const before = Math.floor((await service.ledger.engine.now(service.ledger.engine.read)) / 1000);
    await service.get('/symbols', served);
    await service.get('/usage', idle);
    await service.ledger.close();
    await service.get('/symbols', served);
    const known = await service.get('/usage', served);
    expect(known.status).toBe(200);
    const body = (await known.json()) as Record<string, unknown>;
    expect(body).toEqual({
      success: true,
      plan: 'basic',
      quota: 10_000,
      used: 2,
      remaining: 9_998,
      resetAt: expect.any(Number),
      exact: false,
      asOf: expect.any(Number),
    });
    expect(Number(body.asOf)).toBeGreaterThanOrEqual(before);
    const unknown = await service.get('/usage', idle);
    expect(unknown.status).toBe(503);
    expect(await unknown.json()).toEqual({ success: false, error: expect.stringContaining('ledger') });
    await service.close();
  });
});
