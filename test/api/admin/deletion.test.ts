import { expect, test } from 'bun:test';
import { MS_PER_DAY } from '../../../src/market/day.ts';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { symbolOf } from '../../support/ledgers.ts';
import { OPERATOR_SETTINGS, operatorOf } from '../../support/operator.ts';
import { openTestService } from '../../support/service.ts';

onEachEngine('deletion', (engine) => {
  const api = apiOn(engine, { settings: OPERATOR_SETTINGS });
  const send = operatorOf(api);

  test('of an account needs a confirmation, and its cached keys are refused once the ledger is followed', async () => {
    const { body } = await send('POST', '/admin/accounts', { name: 'Acme', plan: 'basic' });
    const { id } = body.account as Json;
    const key = String(body.apiKey);
    expect((await api.ask('/symbols', { key })).status).toBe(200);
    expectRefusal(await send('DELETE', `/admin/accounts/${id}`), 400, 'missing_parameter');
    expectRefusal(await send('DELETE', `/admin/accounts/${id}?confirm=other`), 409, 'conflict');
    expect((await api.ask('/symbols', { key })).status).toBe(200);

    const deleted = await send('DELETE', `/admin/accounts/${id}?confirm=${id}`);
    expect([deleted.status, deleted.body]).toEqual([200, { success: true, id, deleted: true }]);
    await api.service.core.follow();
    expectRefusal(await api.ask('/symbols', { key }), 401, 'invalid_key');
    expectRefusal(await send('GET', `/admin/accounts/${id}`), 404, 'not_there');
    expectRefusal(await send('DELETE', `/admin/accounts/${id}?confirm=${id}`), 404, 'not_there');
    expect((await api.ask('/symbols')).status).toBe(200); // other accounts are not affected
  });

  test('of a symbol removes it from every response, cached ones and aliases included, on every replica', async () => {
    const { service } = api;
    await service.publish('PL', { '2024-05-14': 1_000 });
    await service.publish('XAU', { '2024-05-14': 2_000 });
    for (const [code, expression] of [
      ['SPREAD', '{PLATINUM}-{XAU}'],
      ['DOUBLE', '{PL}*2'],
      ['OTHER', '{XAU}*2'],
    ] as const)
      await service.ledger.formulas.define({ code, expression, name: code, unit: 'none', currency: 'none' });
    const { ledgerUrl } = service;
    const other = await openTestService(engine, { ledgerUrl });

    const aliases = (await service.ledger.symbols.aliases()).filter(({ code }) => code === 'PL');
    const asked = [
      '/rates/latest?symbols=PL',
      ...aliases.map(({ alias }) => `/rates/latest?symbols=${alias}`),
    ];
    for (let round = 0; round < 3; round++) {
      for (const path of asked) {
        expect((await api.ask(path)).status).toBe(200);
        expect((await other.get(path, api.key)).status).toBe(200);
      }
    }
    expectRefusal(await send('DELETE', '/admin/symbols/PL'), 400, 'missing_parameter');
    expectRefusal(await send('DELETE', '/admin/symbols/PL?confirm=XAU'), 409, 'conflict');
    expectRefusal(await send('DELETE', '/admin/symbols/NOSUCH?confirm=NOSUCH'), 404, 'not_there');
    expect((await send('DELETE', '/admin/symbols/PL?confirm=PL')).body).toEqual({
      success: true,
      symbol: 'PL',
      deleted: true,
      formulas: ['DOUBLE', 'SPREAD'],
    });
    for (const isFinished of [false, true]) {
      if (isFinished) await service.ledger.retention.apply(service.clock.time);
      await service.core.follow();
      await other.core.follow();
      for (const path of asked) {
        expectRefusal(await api.ask(path), 404, 'unknown_symbol');
        expect((await other.get(path, api.key)).status).toBe(404);
      }
      const { symbols } = (await api.ask('/symbols')).body as { symbols: { symbol: string }[] };
      expect(symbols.map(({ symbol }) => symbol)).not.toContain('PL');
      expect((await api.ask('/rates/latest?symbols=XAU')).body.rates).toEqual({ XAU: 2_000 });
      const past = '/rates/historical?symbols=XAU&date=2024-05-14&asOf=2024-05-15T15:00:00Z';
      expect((await api.ask(past)).status).not.toBe(500);
    }
    await other.close();
  });

  test('of changes that a replica has not followed makes it reload everything', async () => {
    const { service } = api;
    const other = await openTestService(engine, { ledgerUrl: service.ledgerUrl });
    const series = '/rates/time-series?symbols=XAG&startDate=2024-05-01&endDate=2024-05-14&metadata=false';
    await service.publish('XAG', { '2024-05-07': 27 });
    await other.core.follow();
    expect(await (await other.get(series, api.key)).json()).toMatchObject({
      rates: { '2024-05-07': { XAG: { close: 27 } } },
    });
    await service.publish('XAG', { '2024-05-08': 28 });
    await service.publish('XAG', { '2024-05-09': 29 });
    await service.publish('XAG', { '2024-05-10': 30 });
    const { id } = await symbolOf(service.ledger, 'XAG');
    await service.ledger.retention.apply(service.clock.time + 31 * MS_PER_DAY);
    const changes = await service.ledger.bars.changes(0, Number.MAX_SAFE_INTEGER);
    expect(changes.find(({ symbolId }) => symbolId === id)).toBeDefined();

    await other.core.follow();
    const { rates } = (await (await other.get(series, api.key)).json()) as { rates: Json };
    expect(Object.keys(rates)).toEqual(['2024-05-07', '2024-05-08', '2024-05-09', '2024-05-10']);
    await other.close();
  });
});
