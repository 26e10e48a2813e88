import { expect, test } from 'bun:test';
import { SCHEMAS } from '../../../src/api/openapi/schemas/schemas.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('GET /account/capabilities', (engine) => {
  const settings = { OPENPIT_PUBLIC_PLAN: 'free' };
  const api = apiOn(engine, { settings }, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
    await service.setPlan({
      name: 'small',
      quota: 50,
      delaySeconds: 600,
      maxSymbols: 3,
      maxSpanDays: null,
      burstPerSecond: 100,
      history: false,
    });
  });
  const capabilitiesOf = async (key: string, version = '') => {
    const { status, body } = await api.ask(`${version}/account/capabilities`, { key });
    expect(status).toBe(200);
    return SCHEMAS.Capabilities.parse(body);
  };
  const listed = async () => ((await api.ask('/symbols')).body.symbols as unknown[]).length;

  test('describes what the plan of the key allows', async () => {
    const key = await api.service.key('small');
    await api.ask('/rates/latest?symbols=XAG', { key });
    await api.ask('/rates/historical?symbols=XAU&date=2024-05-14', { key });
    expect(await capabilitiesOf(key)).toEqual({
      success: true,
      plan: 'small',
      delaySeconds: 600,
      symbols: { available: await listed(), maxPerRequest: 3, maxPerStatistics: 3 },
      span: { timeSeriesDays: 30, statisticsDays: 30 },
      formats: expect.arrayContaining(['json', 'csv', 'ndjson']),
      history: { included: false, rowsPerUnit: 2_000 },
      streams: { allowed: true, maxOpen: 100, eventsPerUnit: 100 },
      idempotency: { keptSeconds: 120, uptimeSeconds: 0 },
      burst: { perSecond: 100 },
      quota: { units: 50, used: 1, remaining: 49, resetAt: expect.any(Number) },
      key: expect.objectContaining({ status: 'active', headerOnly: false }),
    });
  });

  test('every format that it names is accepted, and no limit that it names is refused', async () => {
    const { formats, symbols, span } = await capabilitiesOf(api.key);
    for (const format of formats) expect((await api.ask(`/symbols?format=${format}`)).status).toBe(200);
    const codes = Array.from({ length: symbols.maxPerStatistics + 1 }, (_, i) => `NOPE${i}`);
    const range = 'startDate=2024-05-10&endDate=2024-05-14';
    expectRefusal(await api.ask(`/rates/statistics?symbols=${codes}&${range}`), 400, 'too_many_symbols');
    const spanOf = (days: number) => {
      const start = new Date(Date.UTC(2024, 4, 14) - days * 86_400_000).toISOString().slice(0, 10);
      return api.ask(`/rates/time-series?symbols=XAU&startDate=${start}&endDate=2024-05-14`);
    };
    expect((await spanOf(span.timeSeriesDays)).status).toBe(200);
    expectRefusal(await spanOf(span.timeSeriesDays + 1), 400, 'range_too_long');
  });

  test('the span is that of the version, and statistics are unlimited with long history', async () => {
    const key = await api.service.key('small');
    expect((await capabilitiesOf(key, '/v2')).span.timeSeriesDays).toBe(365);
    expect((await capabilitiesOf(api.key)).span.statisticsDays).toBeNull();
  });

  test('idempotency is null while another process serves, because that one does not know the answers of this one', async () => {
    const { ledger, clock } = api.service;
    clock.time += 90_000;
    expect((await capabilitiesOf(api.key)).idempotency).toEqual({ keptSeconds: 120, uptimeSeconds: 90 });
    const other = { id: 'other', name: 'other', version: '1', phase: 'ready', revision: 0 };
    await ledger.replicas.beat(other);
    expect((await capabilitiesOf(api.key)).idempotency).toBeNull();
    await ledger.replicas.leave(other.id);
    expect((await capabilitiesOf(api.key)).idempotency).not.toBeNull();
  });

  test('the shared key of the page cannot open streams and has no quota of its own', async () => {
    const { given } = (await api.ask('/console/config', { key: '' })).body as { given: { key: string } };
    expect(await capabilitiesOf(given.key)).toMatchObject({ streams: { allowed: false }, quota: null });
  });

  test('is free, and needs a key', async () => {
    const key = await api.service.key('basic');
    await capabilitiesOf(key);
    expect((await api.ask('/usage', { key })).body.used).toBe(0);
    expectRefusal(await api.ask('/account/capabilities', { key: '' }), 401, 'missing_key');
  });
});
