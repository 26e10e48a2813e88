import { expect, test } from 'bun:test';
import { recordOf } from '../../../src/ledger/symbols/symbols.ts';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, NOON } from '../../support/service.ts';

const HOUR = 60 * MINUTE;

onEachEngine('visibility', (engine) => {
  const api = apiOn(engine, {}, async (own) => {
    await own.service.setPlan({ name: 'hour', delaySeconds: 3600 });
    late = await own.service.key('hour');
  });
  let late = '';
  const latest = async (symbol: string) =>
    (await api.ask(`/rates/latest?symbols=${symbol}`, { key: late })).body;
  const at = (time: number) => {
    api.service.clock.time = time;
  };

  test('a tick is visible exactly when the delay has passed, and at once without a delay', async () => {
    at(NOON);
    await api.service.publish('XAU', { '2024-05-14': 1 });
    await api.service.tick('XAU', 2, NOON);
    expect((await api.ask('/rates/latest?symbols=XAU')).body.rates).toEqual({ XAU: 2 });
    at(NOON + HOUR - 1);
    expect((await latest('XAU')).rates).toEqual({ XAU: 1 });
    at(NOON + HOUR);
    expect((await latest('XAU')).rates).toEqual({ XAU: 2 });
  });

  test('the delay of a late tick counts from when it was received', async () => {
    at(NOON);
    await api.service.publish('XAG', { '2024-05-14': 1 });
    await api.service.tick('XAG', 2, NOON - 30 * MINUTE, NOON);
    at(NOON + HOUR - 1);
    expect((await latest('XAG')).rates).toEqual({ XAG: 1 });
    at(NOON + HOUR);
    expect((await latest('XAG')).rates).toEqual({ XAG: 2 });
  });

  test('the delay of a settlement counts from the end of the session, even if it is recorded later', async () => {
    const close = Date.UTC(2024, 4, 15, 21); // 17:00 in New York
    await api.service.publish('PL', { '2024-05-14': 1 });
    at(close + 30 * MINUTE);
    await api.service.publish('PL', { '2024-05-15': 2 });
    const day = () => api.ask('/rates/historical?symbols=PL&date=2024-05-15', { key: late });
    at(close + HOUR - 1);
    expect((await day()).body.metadata).toMatchObject({ PL: { date: '2024-05-14' } });
    at(close + HOUR);
    expect((await day()).body.metadata).toMatchObject({ PL: { date: '2024-05-15' } });
  });

  test('the delay of a bar published during its session counts from when it was recorded', async () => {
    at(NOON);
    await api.service.publish('PA', { '2024-05-14': 1, '2024-05-15': 2 });
    expect((await latest('PA')).rates).toEqual({ PA: 1 });
    at(NOON + HOUR);
    expect((await latest('PA')).rates).toEqual({ PA: 2 });
  });

  test('imported history is visible at once, and so is its correction', async () => {
    at(NOON);
    const path = '/rates/historical?symbols=HG-FUT&date=2015-03-02&metadata=false';
    const flat = (price: number) => ({ open: price, high: price, low: price, close: price });
    await api.service.publish('HG-FUT', { '2015-03-02': 2.7 });
    expect((await api.ask(path, { key: late })).body.rates).toEqual({ 'HG-FUT': flat(2.7) });
    await api.service.publish('HG-FUT', { '2015-03-02': 2.8 });
    expect((await api.ask(path, { key: late })).body.rates).toEqual({ 'HG-FUT': flat(2.8) });
  });

  test('the first price of a symbol leaves no trace before its delay has passed: lastDate, firstDate, error text, tag', async () => {
    at(NOON);
    const trace = async () => {
      const symbols = await api.ask('/symbols', { key: late });
      const own = (symbols.body.symbols as { symbol: string }[]).find((one) => one.symbol === 'TIN');
      const missing = await api.ask('/rates/historical?symbols=TIN&date=2024-05-15', { key: late });
      return { own, tag: symbols.headers.get('etag'), missing: missing.text };
    };
    const before = await trace();
    expect(before.own).toMatchObject({ firstDate: null, lastDate: null });
    await api.service.tick('TIN', 33_000, NOON);
    await api.service.publish('TIN', { '2024-05-15': 33_100 });
    at(NOON + HOUR - 1);
    expect(await trace()).toEqual(before);
    at(NOON + HOUR);
    const after = await trace();
    expect(after.own).toMatchObject({ firstDate: '2024-05-15', lastDate: '2024-05-15' });
    expect(after.tag).not.toBe(before.tag);
  });

  test('staleness is relative to the delayed market, not to the clock', async () => {
    at(Date.UTC(2024, 4, 15, 16));
    await api.service.publish('ZINC', { '2024-05-10': 2900 }); // Friday; five days before Wednesday the 15th
    const stale = async () => (await latest('ZINC')).metadata as Record<string, { stale: boolean }>;
    at(Date.UTC(2024, 4, 14, 23, 30)); // in London it is the 15th already; an hour ago it was the 14th
    expect((await stale()).ZINC!.stale).toBe(false);
    at(Date.UTC(2024, 4, 15, 0, 30));
    expect((await stale()).ZINC!.stale).toBe(true);
  });

  test('a symbol that moves to another market follows the sessions of that market', async () => {
    at(Date.UTC(2024, 4, 15, 20, 30)); // COMEX is open; London has closed more than two hours ago
    await api.service.publish('HG-SPOT', { '2024-05-14': 1, '2024-05-15': 2 });
    expect((await latest('HG-SPOT')).rates).toEqual({ 'HG-SPOT': 1 });
    const { ledger, core } = api.service;
    const copper = (await ledger.symbols.list()).find((one) => one.code === 'HG-SPOT')!;
    await ledger.symbols.upsert([{ ...recordOf(copper), market: 'LME' }], []);
    await core.follow();
    expect((await latest('HG-SPOT')).rates).toEqual({ 'HG-SPOT': 2 });
  });

  test('a changed delay of a plan takes effect at once', async () => {
    at(NOON);
    await api.service.setPlan({ name: 'moves', delaySeconds: 7200 });
    const key = await api.service.key('moves');
    await api.service.publish('COAL', { '2024-05-14': 1 });
    await api.service.tick('COAL', 2, NOON);
    const rates = async () => (await api.ask('/rates/latest?symbols=COAL', { key })).body.rates;
    at(NOON + 90 * MINUTE);
    expect(await rates()).toEqual({ COAL: 1 });
    await api.service.setPlan({ name: 'moves', delaySeconds: 1234 });
    expect(await rates()).toEqual({ COAL: 2 });
    await api.service.setPlan({ name: 'moves', delaySeconds: 7200 });
    expect(await rates()).toEqual({ COAL: 1 });
  });
});
