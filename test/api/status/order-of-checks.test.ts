import { test } from 'bun:test';
import { createAccount } from '../../../src/gate/onboarding.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { eventually } from '../../support/program.ts';

onEachEngine('the order of checks', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358 });
    await service.setPlan({ name: 'tight', quota: 0, burstPerSecond: 1 });
  });

  test('a request that is wrong in every way is refused in this order: path, method, key, account, burst, parameters, symbols, data, quota', async () => {
    const { ledger, clock, core } = api.service;
    const { account, issued } = await createAccount(
      ledger,
      { name: 'Everything wrong', plan: 'tight' },
      clock.time,
    );
    const key = issued.text;
    await api.ask('/usage', { key }); // the one request of this second
    await ledger.accounts.update(account.id, { status: 'suspended' });
    await core.follow();

    const bad = { key: 'wrong', method: 'POST' };
    expectRefusal(await api.ask('/rates/newest', bad), 404, 'not_found');
    expectRefusal(await api.ask('/rates/historical', bad), 405, 'method_not_allowed');
    expectRefusal(await api.ask('/rates/historical', { key: 'wrong' }), 401, 'invalid_key');
    expectRefusal(await api.ask('/rates/historical', { key }), 403, 'account_suspended');
    await ledger.accounts.update(account.id, { status: 'active' });
    await core.follow();
    await api.ask('/usage', { key });
    expectRefusal(await api.ask('/rates/historical', { key }), 429, 'rate_limited');

    const next = async (query: string, status: number, code: string) => {
      clock.time += 1_000;
      expectRefusal(await api.ask(`/rates/historical${query}`, { key }), status, code);
    };
    await next('?symbols=NOPE,ZINC', 400, 'missing_parameter');
    await next('?symbols=NOPE,ZINC&date=2024-05-14', 404, 'unknown_symbol');
    await next('?symbols=ZINC&date=2024-05-14', 404, 'no_data');
    await next('?symbols=XAU&date=2024-05-14', 429, 'quota_exhausted');
    await api.service.setPlan({ name: 'tight', quota: 1, burstPerSecond: 1 });
    clock.time += 1_000;
    const asked = '/rates/historical?symbols=XAU&date=2024-05-14';
    await eventually(async () => {
      clock.time += 1_000;
      return (await api.ask(asked, { key })).status === 200;
    });
  });
});
