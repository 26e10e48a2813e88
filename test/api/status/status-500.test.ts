import { expect, test } from 'bun:test';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('500', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
    await service.publish('XAG', { '2024-05-14': 28.5 });
  });

  test('the response reveals only a request id; the log has the details', async () => {
    const { service } = api;
    expect((await api.ask('/rates/latest?symbols=XAG')).status).toBe(200);
    await service.ledger.engine.write((tx) => tx.unsafe('ALTER TABLE bar RENAME TO hidden'));
    const reply = await api.ask('/rates/historical?symbols=XAU&date=2024-05-14');
    const served = await api.ask('/rates/latest?symbols=XAG');
    await service.ledger.engine.write((tx) => tx.unsafe('ALTER TABLE hidden RENAME TO bar'));

    const message = expectRefusal(reply, 500, 'internal');
    const id = reply.headers.get('x-request-id')!;
    expect(message).toContain(id);
    expect(message).not.toMatch(/bar|table|relation|SQL|\.ts|at /);
    const line = service.logLines.find((one) => one.includes('"event":"request failed"'))!;
    expect(JSON.parse(line)).toMatchObject({ level: 'error', requestId: id, endpoint: 'historical' });
    expect(JSON.parse(line).message).toContain('bar');
    expect(served.status).toBe(200); // data in memory is still served
  });

  test('once the cause is gone the same request succeeds, and the failure was free', async () => {
    const key = await api.service.key('basic');
    const path = '/rates/historical?symbols=XAU&date=2024-05-14';
    expect((await api.ask(path, { key })).status).toBe(200);
    expect((await api.ask('/usage', { key })).body.used).toBe(1);
  });

  test('every request has its own id', async () => {
    const ids = new Set<string | null>();
    for (let i = 0; i < 5; i++) ids.add((await api.ask('/usage')).headers.get('x-request-id'));
    expect(ids.size).toBe(5);
    expect(ids).not.toContain(null);
  });
});
