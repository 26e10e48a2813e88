import { expect, test } from 'bun:test';
import { unitRecords } from '../../../src/api/endpoints/catalog/units.ts';
import { currenciesFor } from '../../../src/api/params/conversion.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('GET /units', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2_350 });
    await service.publish('CORN', { '2024-05-14': 460 });
  });
  type Units = Record<string, { unit: string; factor: number }[]>;
  const unitsOf = async (symbols: string) => (await api.ask(`/units?symbols=${symbols}`)).body.units as Units;

  test('every listed unit can be requested, and its factor is the one applied to prices', async () => {
    const units = await unitsOf('XAU,CORN');
    expect(units.XAU![0]).toEqual({ unit: 'T.oz', factor: 1 });
    expect(units.CORN!.map(({ unit }) => unit)).toContain('MT');
    for (const [code, published] of [
      ['XAU', 2_350],
      ['CORN', 460],
    ] as const) {
      for (const { unit, factor } of units[code]!) {
        const path = `/rates/latest?symbols=${code}&unit=${encodeURIComponent(unit)}`;
        const { rates, metadata } = (await api.ask(path)).body as {
          rates: Record<string, number>;
          metadata: Record<string, { unit: string }>;
        };
        expect(metadata[code]!.unit, unit).toBe(unit);
        expect(rates[code]! / (published * factor), unit).toBeCloseTo(1, 6);
      }
    }
  });

  test('a named formula has those of its own unit and currency, and no other formula has any', async () => {
    const { units, currencies } = (await api.ask('/units?symbols=CRACK321,GOLDSILVER')).body as {
      units: Units;
      currencies: Record<string, string[]>;
    };
    expect(units.CRACK321!.map(({ unit }) => unit)).toContain('Gal');
    expect(currencies.CRACK321).toContain('USX');
    expect(units.GOLDSILVER).toEqual([{ unit: 'none', factor: 1 }]);
    expect(currencies.GOLDSILVER).toEqual(['none']);
    await api.service.publish('XAG', { '2024-05-14': 28 });
    for (const quote of ['none', 'NONE']) {
      const { status, body } = await api.ask(`/rates/latest?symbols=GOLDSILVER&quote=${quote}`);
      expect(status, quote).toBe(200);
      expect(body.metadata).toMatchObject({ GOLDSILVER: { quote: 'none', factor: 1 } });
    }
    expectRefusal(await api.ask('/rates/latest?symbols=GOLDSILVER&quote=EUR'), 404, 'unknown_currency');
    expectRefusal(await api.ask('/rates/latest?symbols=XAU&quote=none'), 404, 'unknown_currency');
    expectRefusal(await api.ask('/units?symbols={XAU}/{XAG}'), 400, 'invalid_formula');
  });

  test('units that would need a density are not listed', async () => {
    const units = await unitsOf('WTIOIL-SPOT');
    expect(units['WTIOIL-SPOT']!.map(({ unit }) => unit)).toEqual(['Bbl', 'L', 'Gal', 'm3']);
  });

  test('every listed currency can be requested, and without exchange rates there is only its own', async () => {
    const { catalog } = api.service.core.board;
    expect(currenciesFor('EUR', catalog)).toEqual(['EUR']);
    expect((await api.ask('/units?symbols=XAU,CORN')).body.currencies).toEqual({
      XAU: ['USD', 'USX'],
      CORN: ['USD', 'USX'],
    });
    await api.service.publish('EUR/USD', { '2024-05-14': 1.08 });
    await api.service.publish('EUR/GBP', { '2024-05-14': 0.86 });
    const { currencies } = (await api.ask('/units?symbols=XAU')).body as { currencies: { XAU: string[] } };
    expect(currencies.XAU).toEqual(['EUR', 'GBP', 'USD', 'USX']);
    for (const quote of currencies.XAU) {
      expect((await api.ask(`/rates/latest?symbols=XAU&quote=${quote}`)).status, quote).toBe(200);
    }
  });

  test('the units of a symbol are computed once', () => {
    const { symbol } = api.service.core.board.catalog.find('CORN')!;
    expect(unitRecords(symbol)).toBe(unitRecords(symbol));
  });

  test('it is free, needs a key, and validates its symbols', async () => {
    const key = await api.service.key('basic');
    await api.ask('/units?symbols=XAU', { key });
    expect((await api.ask('/usage', { key })).body.used).toBe(0);
    expect((await api.ask('/units?symbols=XAU', { key: '' })).status).toBe(401);
    expectRefusal(await api.ask('/units?symbols=NOPE'), 404, 'unknown_symbol');
    expectRefusal(await api.ask('/units'), 400, 'missing_parameter');
  });
});
