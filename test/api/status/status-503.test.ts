import { expect, test } from 'bun:test';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { sendRaw } from '../../support/http/raw.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { openTestService } from '../../support/service.ts';

onEachEngine('503', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
  });

  test('while starting, requests with a key are asked to retry, and an unknown path is still 404', async () => {
    api.service.core.phase = 'starting';
    const reply = await api.ask('/rates/latest?symbols=XAU');
    const elsewhere = await api.ask('/nowhere');
    api.service.core.phase = 'ready';
    expectRefusal(reply, 503, 'unavailable');
    expect(reply.headers.get('retry-after')).toBe('1');
    expect(elsewhere.status).toBe(404);
    expect((await api.ask('/rates/latest?symbols=XAU')).status).toBe(200);
  });

  test('while draining, only health is 503; requests are answered and the connection is closed', async () => {
    const service = await openTestService(engine);
    const { url, core, listener } = service;
    const key = await service.key();
    await service.publish('XAU', { '2024-05-14': 2358.2 });
    core.phase = 'draining';
    const stopping = listener.stop(5_000);
    // The client does not request "Connection: close": the reply would never end if the server kept the connection open.
    const request = `GET /rates/latest?symbols=XAU HTTP/1.1\r\nHost: test\r\nx-api-key: ${key}\r\n\r\n`;
    const reply = await sendRaw(url, request);
    const health = await service.get('/health');
    await stopping;
    await core.close();
    expect(reply).toStartWith('HTTP/1.1 200 ');
    expect(reply).toMatch(/\r\nConnection: close\r\n/i);
    expect(reply).toContain('"rates":{"XAU":2358.2}');
    expect(health.status).toBe(503);
  });

  test('with the ledger unreachable, data in memory is served and the rest is 503', async () => {
    const service = await openTestService(engine);
    const key = await service.key();
    await service.publish('XAU', { '2024-05-14': 2358.2 });
    await service.publish('XAG', { '2024-05-14': 28.5 });
    expect((await service.get('/rates/latest?symbols=XAU', key)).status).toBe(200);
    await service.ledger.close();
    expect((await service.get('/rates/latest?symbols=XAU', key)).status).toBe(200);
    const reply = await service.get('/rates/latest?symbols=XAG', key);
    expect(reply.status).toBe(503);
    expect(reply.headers.get('retry-after')).toBe('5');
    expect(await reply.json()).toMatchObject({ statusCode: '503', code: 'unavailable' });
    await service.close();
  });
});
