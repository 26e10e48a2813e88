import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
import { sendRaw } from '../../support/http/raw.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { openTestService } from '../../support/service.ts';

onEachEngine('GET /health', (engine) => {
  const api = apiOn(engine);
  const health = () => api.ask('/health', { key: '' });

  test('it needs no key and reports that there is no data yet', async () => {
    const { status, body } = await health();
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'ready',
      ready: true,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      revision: expect.any(Number),
      newestDataAgeSeconds: null,
      newestWriteAgeSeconds: null,
      simulated: false,
      alarms: [],
      lateFeeds: [],
      partialFeeds: [],
      diskFull: false,
    });
  });

  test('prices of 2014 written now count as old data and a new write', async () => {
    await api.service.publish('XAG', { '2014-05-08': 20 });
    const { body } = await health();
    expect(body.newestWriteAgeSeconds).toBe(0);
    const end = Date.parse('2014-05-08T21:00:00Z'); // 17:00 in New York
    expect(body.newestDataAgeSeconds).toBe(Math.floor((api.service.clock.now() - end) / 1000));
  });

  test('it has the served revision and the age of the newest data', async () => {
    const before = (await health()).body.revision as number;
    await api.service.tick('XAU', 2000);
    api.service.clock.time += 90_500;
    const { body } = await health();
    expect(body.revision).toBeGreaterThan(before);
    expect(body.newestDataAgeSeconds).toBe(90);
  });

  test('while starting and while draining it is 503', async () => {
    for (const phase of ['starting', 'draining'] as const) {
      api.service.core.phase = phase;
      const { status, body, headers } = await health();
      expect({ status, phase: body.status, ready: body.ready }).toEqual({ status: 503, phase, ready: false });
      expect(headers.get('retry-after')).toBe('1');
    }
    api.service.core.phase = 'ready';
    expect((await health()).status).toBe(200);
  });

  test('/health/ready is the same, and /health/live is 200 in every phase', async () => {
    for (const phase of ['starting', 'draining', 'ready'] as const) {
      api.service.core.phase = phase;
      const ready = await api.ask('/health/ready', { key: '' });
      expect([ready.status, ready.body.status]).toEqual([phase === 'ready' ? 200 : 503, phase]);
      const live = await api.ask('/health/live', { key: '' });
      expect([live.status, live.text]).toEqual([200, '{"status":"live"}']);
    }
  });

  test('without the ledger it is 503 and names the alarm, while data in memory is served; live stays 200', async () => {
    const service = await openTestService(engine);
    const key = await service.key();
    await service.tick('XAU', 2000);
    expect((await service.get('/rates/latest?symbols=XAU', key)).status).toBe(200);
    await service.core.faults.ledger.check();
    await service.ledger.close();
    for (let second = 0; second < 4; second++) {
      service.clock.time += 1_000;
      await service.core.faults.ledger.check();
    }
    const ready = await service.get('/health');
    expect(ready.status).toBe(503);
    expect(ready.headers.get('retry-after')).toBe('1');
    expect(await ready.json()).toMatchObject({
      status: 'unavailable',
      ready: false,
      alarms: ['ledger.unreachable'],
    });
    expect((await service.get('/health/live')).status).toBe(200);
    expect((await service.get('/rates/latest?symbols=XAU', key)).status).toBe(200);
    expect(await (await service.get('/metrics')).text()).toContain('openpit_ready 0\n');
    await service.close();
  });

  test('it works for a load balancer that speaks HTTP/1.0 without a Host', async () => {
    expect(await sendRaw(api.service.url, 'GET /health HTTP/1.0\r\n\r\n')).toContain('"status":"ready"');
  });

  test('it is served only at the root', async () => {
    expect((await api.ask('/v1/health')).status).toBe(404);
  });

  test('it is never stored', async () => {
    expect((await health()).headers.get('cache-control')).toBe('no-store');
  });
});
