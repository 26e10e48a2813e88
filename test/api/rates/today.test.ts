import { expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

/** In May, New York is four hours behind UTC: gold's day turns at 22:00 UTC. */
onEachEngine('today', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358 });
    await service.publish('AL-SPOT', { '2024-05-14': 2500 }); // London
    await service.publish('STEEL', { '2024-05-14': 3600 }); // Shanghai
    await service.publish('POUL', { '2024-05-14': 8 }); // no exchange
  });
  const at = (text: string) => {
    api.service.clock.time = Date.parse(text);
  };
  const statusOf = async (symbols: string, date: string) =>
    (await api.ask(`/rates/historical?symbols=${symbols}&date=${date}`)).status;

  test('until 18:00 in New York tomorrow is the future for gold, and from then on it is today', async () => {
    at('2024-05-15T21:59:59.999Z');
    expect(await statusOf('XAU', '2024-05-15')).toBe(200);
    expect(await statusOf('XAU', '2024-05-16')).toBe(400);
    at('2024-05-15T22:00:00Z');
    expect(await statusOf('XAU', '2024-05-16')).toBe(200);
    expect(await statusOf('XAU', '2024-05-17')).toBe(400);
  });

  test('daylight saving time is taken into account', async () => {
    at('2024-01-10T22:30:00Z');
    const path = '/rates/historical?symbols=XAU&date=2024-01-11';
    expectRefusal(await api.ask(path), 400, 'date_in_future');
    at('2024-01-10T23:00:00Z');
    expectRefusal(await api.ask(path), 404, 'no_data');
  });

  test('a symbol of another market has its own today, and together they have the later one', async () => {
    at('2024-05-15T22:30:00Z');
    expect(await statusOf('AL-SPOT', '2024-05-16')).toBe(400);
    expect(await statusOf('POUL', '2024-05-16')).toBe(400);
    expect(await statusOf('AL-SPOT,XAU', '2024-05-16')).toBe(200);
    at('2024-05-15T13:30:00Z'); // 21:30 in Shanghai
    expect(await statusOf('STEEL', '2024-05-16')).toBe(200);
    expect(await statusOf('XAU', '2024-05-16')).toBe(400);
  });

  test('the UTC date counts as today even if the market is a day behind', async () => {
    at('2024-05-16T00:30:00Z');
    await api.service.publish('MILK', { '2024-05-14': 20 }); // Chicago, where it is still the 15th
    expect(await statusOf('MILK', '2024-05-16')).toBe(200);
  });

  test('the message names today and the date', async () => {
    at('2024-05-15T16:00:00Z');
    const reply = await api.ask('/rates/historical?symbols=XAU&date=2024-05-16');
    const message = expectRefusal(reply, 400, 'date_in_future');
    expect(message).toContain('received 2024-05-16');
    expect(message).toContain('Today is 2024-05-15');
  });

  test('over a weekend Monday is the future, until its session opens on Sunday evening', async () => {
    at('2024-05-18T16:00:00Z'); // Saturday
    expect(await statusOf('XAU', '2024-05-18')).toBe(200);
    expect(await statusOf('XAU', '2024-05-20')).toBe(400);
    at('2024-05-19T21:59:59Z'); // Sunday
    expect(await statusOf('XAU', '2024-05-20')).toBe(400);
    at('2024-05-19T22:00:00Z');
    expect(await statusOf('XAU', '2024-05-20')).toBe(200);
  });

  test('a tick of Sunday evening belongs to Monday', async () => {
    const evening = Date.parse('2024-05-19T22:30:00Z'); // 18:30 in New York
    api.service.clock.time = evening;
    await api.service.tick('XAU', 2420, evening);
    const { body } = await api.ask('/rates/historical?symbols=XAU&date=2024-05-20');
    expect(body.rates).toEqual({ XAU: { open: 2420, high: 2420, low: 2420, close: 2420 } });
    expect(body.metadata).toMatchObject({ XAU: { date: '2024-05-20' } });
    const series = await api.ask('/rates/time-series?symbols=XAU&startDate=2024-05-18&endDate=2024-05-19');
    expect(series.body.rates).toEqual({});
  });

  test('a tick at the evening opening starts the next day and does not change the closed one', async () => {
    const { service } = api;
    const close = Date.parse('2024-05-21T20:59:00Z');
    service.clock.time = close;
    await service.tick('XAG', 31, close);
    service.clock.time = Date.parse('2024-05-21T22:00:00Z');
    await service.tick('XAG', 32, service.clock.time);
    const path = '/rates/time-series?symbols=XAG&startDate=2024-05-21&endDate=2024-05-22&metadata=false';
    const rates = (await api.ask(path)).body.rates as Record<string, Record<string, Json>>;
    expect(rates['2024-05-21']!.XAG!.close).toBe(31);
    expect(rates['2024-05-22']!.XAG!.open).toBe(32);
  });
});
