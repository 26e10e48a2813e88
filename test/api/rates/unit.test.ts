import { expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('unit=', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-13': 2336.1, '2024-05-14': [2336.1, 2359.9, 2335, 2358.2] });
    await service.publish('CORN', { '2024-05-14': 467.25 });
    await service.publish('ZW-FUT', { '2024-05-14': 6.5 });
    await service.publish('WTIOIL-FUT', { '2024-05-14': 78.5 });
    await service.publish('EUR/USD', { '2024-05-13': 1.078, '2024-05-14': 1.0799 }, 'ecb');
  });
  const day = (symbols: string, rest: string) =>
    `/rates/historical?symbols=${symbols}&date=2024-05-14&${rest}`;

  test('a price per troy ounce is converted to kilograms, and metadata says so', async () => {
    const { text } = await api.ask(day('XAU', 'unit=kg'));
    expect(text).toBe(
      '{"success":true,"date":"2024-05-14","rates":{"XAU":{"open":75107.359,"high":75872.547,"low":75071.993,"close":75817.891}},' +
        '"metadata":{"XAU":{"unit":"Kg","quote":"USD","factor":32.1507465686,"date":"2024-05-14","source":"test"}}}',
    );
  });

  test('the weight of a bushel depends on the crop', async () => {
    const { body } = await api.ask(day('CORN,ZW-FUT', 'unit=tonne'));
    expect(body.rates).toMatchObject({ CORN: { close: 18394.82 }, 'ZW-FUT': { close: 238.83412 } });
    expect(body.metadata).toMatchObject({ CORN: { unit: 'MT', quote: 'USX' }, 'ZW-FUT': { unit: 'MT' } });
  });

  test('unit and quote combine, and are rounded once', async () => {
    const { body } = await api.ask(day('CORN', 'unit=mt&quote=EUR'));
    // 467.25 × 0.01 / (56 × 0.45359237 kg) × 1000 / 1.0799
    expect(body.rates).toMatchObject({ CORN: { close: 170.33818 } });
    expect(body.metadata).toMatchObject({ CORN: { unit: 'MT', quote: 'EUR' } });
  });

  test('latest, time-series and fluctuation accept it too', async () => {
    const range = 'startDate=2024-05-13&endDate=2024-05-14';
    const latest = (await api.ask('/rates/latest?symbols=XAU&unit=g')).body;
    expect(latest.rates).toEqual({ XAU: 75.817891 });
    const series = (await api.ask(`/rates/time-series?symbols=XAU&${range}&unit=g`)).body;
    expect((series.rates as Record<string, Json>)['2024-05-13']).toMatchObject({ XAU: { close: 75.107359 } });
    const change = (await api.ask(`/rates/fluctuation?symbols=XAU&${range}&unit=g`)).body;
    expect(change.rates).toMatchObject({
      XAU: { startRate: 75.107359, endRate: 75.817891, change: 0.710532 },
    });
  });

  test('the symbol’s own unit, in any spelling, changes nothing', async () => {
    const plain = await api.ask(day('XAU', 'metadata=false'));
    for (const unit of ['T.oz', 't.oz', 'oz', 'Troy%20Ounce', 'troy+oz']) {
      expect((await api.ask(day('XAU', `metadata=false&unit=${unit}`))).text, unit).toBe(plain.text);
    }
  });

  test('a unit that does not fit is refused with the fitting units of each symbol', async () => {
    const barrels = expectRefusal(await api.ask(day('WTIOIL-FUT', 'unit=tonne')), 400, 'invalid_unit');
    expect(barrels).toContain('WTIOIL-FUT (which has Bbl, L, Gal, m3');
    const both = expectRefusal(await api.ask(day('XAU,WTIOIL-FUT,CORN', 'unit=MWh')), 400, 'invalid_unit');
    expect(both).toContain('XAU (which has T.oz, Kg, g, MT');
    expect(both).toContain('WTIOIL-FUT (');
    expect(both).toMatch(/CORN \(which has Bu, [^)]*Lb/);
    for (const unit of ['stone', '__proto__', 'x'.repeat(500)]) {
      expectRefusal(await api.ask(day('XAU', `unit=${unit}`)), 400, 'invalid_unit');
    }
    expectRefusal(await api.ask(day('XAU', 'unit=kg&unit=g')), 400, 'repeated_parameter');
  });
});
