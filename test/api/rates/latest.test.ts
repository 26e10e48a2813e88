import { expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, NOON } from '../../support/service.ts';

onEachEngine('GET /rates/latest', (engine) => {
  const api = apiOn(engine, { now: NOON + 999 }, async ({ service }) => {
    await service.publish('XAU', { '2024-05-13': 2336.1, '2024-05-14': [2336.1, 2359.9, 2335, 2358.2] });
    await service.publish('CORN', { '2024-05-14': 467.25 });
    await service.tick('XAG', 28.5, NOON - 2 * MINUTE);
    await service.tick('XAG', 28.75, NOON - MINUTE);
  });

  test('without metadata the body is exactly as specified: fields, order, whole seconds', async () => {
    const { text } = await api.ask('/rates/latest?symbols=XAU,XAG&metadata=false');
    expect(text).toBe('{"success":true,"timestamp":1715788800,"rates":{"XAU":2358.2,"XAG":28.75}}');
  });

  test('metadata comes last and has unit, quote, time or day, source and staleness', async () => {
    const { body } = await api.ask('/rates/latest?symbols=XAG,CORN');
    expect(Object.keys(body)).toEqual(['success', 'timestamp', 'rates', 'metadata']);
    expect(JSON.stringify(body.metadata)).toBe(
      JSON.stringify({
        XAG: { unit: 'T.oz', quote: 'USD', at: '2024-05-15T15:59:00.000Z', source: 'test', stale: false },
        CORN: { unit: 'Bu', quote: 'USX', at: '2024-05-14', source: 'test', stale: false },
      }),
    );
  });

  test('without ticks it returns the newest close', async () => {
    expect((await api.ask('/rates/latest?symbols=XAU')).body.rates).toEqual({ XAU: 2358.2 });
  });

  test('a tick replaces the close of the day before at once', async () => {
    await api.service.publish('PA', { '2024-05-14': 970 });
    await api.service.tick('PA', 981.5);
    expect((await api.ask('/rates/latest?symbols=PA')).body.rates).toEqual({ PA: 981.5 });
  });

  test('a tick that arrives late does not replace a newer one', async () => {
    await api.service.tick('XAG', 1, NOON - 5 * MINUTE, NOON);
    expect((await api.ask('/rates/latest?symbols=XAG')).body.rates).toEqual({ XAG: 28.75 });
  });

  test('a tick with a future time is not visible before that time', async () => {
    const { service } = api;
    await service.publish('TIN', { '2024-05-14': 100 });
    await service.tick('TIN', 200, service.clock.time + MINUTE, service.clock.time);
    expect((await api.ask('/rates/latest?symbols=TIN')).body.rates).toEqual({ TIN: 100 });
    service.clock.time += MINUTE;
    expect((await api.ask('/rates/latest?symbols=TIN')).body.rates).toEqual({ TIN: 200 });
  });

  test('one symbol without data fails the request and is named', async () => {
    const message = expectRefusal(await api.ask('/rates/latest?symbols=XAU,ZINC,COAL'), 404, 'no_data');
    expect(message).toContain('ZINC');
    expect(message).toContain('COAL');
    expect(message).not.toContain('XAU');
  });

  test('a price that is too old for its interval is stale', async () => {
    await api.service.publish('NICKEL-FUT', { '2024-05-10': 19_000 }); // Friday; today is Wednesday
    await api.service.publish('NICKEL-SPOT', { '2024-05-13': 19_000 });
    await api.service.publish('BEEF', { '2024-04-01': 4.9 }); // monthly
    const { body } = await api.ask('/rates/latest?symbols=NICKEL-FUT,NICKEL-SPOT,BEEF');
    const metadata = body.metadata as Record<string, Json>;
    expect(metadata['NICKEL-FUT']?.stale).toBe(true);
    expect(metadata['NICKEL-SPOT']?.stale).toBe(false);
    expect(metadata.BEEF?.stale).toBe(false);
  });
});
