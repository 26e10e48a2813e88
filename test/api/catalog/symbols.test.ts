import { expect, test } from 'bun:test';
import { apiOn, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { LISTED_SIZE } from '../../support/responses/catalogue.ts';

onEachEngine('GET /symbols', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2015-03-02': 1213.1, '2024-05-14': 2358.2 });
  });
  const records = async () => (await api.ask('/symbols')).body.symbols as Json[];

  test('it returns the whole catalogue, sorted by code', async () => {
    const codes = (await records()).map((record) => String(record.symbol));
    expect(codes).toHaveLength(LISTED_SIZE);
    expect(codes).toEqual(codes.toSorted());
  });

  test('a record has the specified fields first, then the additional ones', async () => {
    const gold = (await records()).find((record) => record.symbol === 'XAU');
    expect(JSON.stringify(gold)).toBe(
      JSON.stringify({
        symbol: 'XAU',
        category: 'Metals',
        name: 'Gold',
        currency: { code: 'USD', name: 'US Dollar', symbol: '$' },
        unit: { symbol: 'T.oz', name: 'Troy Ounce' },
        status: 'active',
        updateInterval: 'minute',
        firstDate: '2015-03-02',
        lastDate: '2024-05-14',
      }),
    );
  });

  test('every record has a string in every specified field', async () => {
    for (const record of await records()) {
      const { currency, unit } = record as { currency: Json; unit: Json };
      const texts = [record.symbol, record.category, record.name];
      texts.push(currency.code, currency.name, currency.symbol, unit.symbol, unit.name);
      for (const text of texts) expect(text, String(record.symbol)).toMatch(/\S/);
      expect(['active', 'deprecated']).toContain(record.status as string);
      expect(['minute', 'day', 'week', 'month']).toContain(record.updateInterval as string);
    }
  });

  test('a symbol quoted in cents has the currency US Cent', async () => {
    const corn = (await records()).find((record) => record.symbol === 'CORN');
    expect(corn?.currency).toEqual({ code: 'USX', name: 'US Cent', symbol: '¢' });
  });

  test('a symbol without data has null for its dates', async () => {
    const silver = (await records()).find((record) => record.symbol === 'XAG');
    expect(silver).toMatchObject({ firstDate: null, lastDate: null });
  });

  test('a tick moves lastDate to its trade date', async () => {
    await api.service.tick('PL', 1000, Date.UTC(2024, 4, 13, 23)); // 19:00 in New York: trades for the 14th
    const platinum = (await records()).find((record) => record.symbol === 'PL');
    expect(platinum).toMatchObject({ firstDate: '2024-05-14', lastDate: '2024-05-14' });
  });

  test('aliases are not listed as symbols', async () => {
    expect((await records()).map((record) => record.symbol)).not.toContain('GOLD');
  });

  test('the body has only success and symbols', async () => {
    expect(Object.keys((await api.ask('/symbols')).body)).toEqual(['success', 'symbols']);
  });
});
