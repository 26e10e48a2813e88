import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import aliases from '../../ledger/catalog/aliases.json';
import records from '../../ledger/catalog/symbols.json';
import type { SymbolRecord } from '../symbol.ts';
import { SymbolSearch } from './symbol-search.ts';

const symbols = records as readonly SymbolRecord[];
const search = new SymbolSearch(symbols, aliases);
/** As if nobody had thought of aliases: names and spellings alone. */
const withoutAliases = new SymbolSearch(symbols, []);

describe('suggestions', () => {
  test.each([
    ['PLATINUM', 'PL'],
    ['PALLADIUM', 'PA'],
    ['LITHIUM', 'LC'],
    ['ALUMINUM', 'AL-FUT'],
    ['IRON', 'TIOC'],
    ['URANIUM', 'UXA'],
    ['NATURAL_GAS', 'NG-FUT'],
    ['NATURALGAS', 'NG-FUT'],
    ['CRUDE_OIL', 'WTIOIL-FUT'],
    ['CRUDE OIL', 'BRENTOIL-FUT'],
    ['PALM-OIL', 'PO'],
    ['OATS', 'OAT-FUT'],
    ['BRENT_CRUDE', 'BRENTOIL-FUT'],
    ['COPPER-FUTURES', 'HG-FUT'],
  ])('find the commodity of %s by its name: %s', (wrong, code) => {
    expect(withoutAliases.suggest(wrong)).toContain(code);
  });

  test('name the commodity first, and nothing that is only spelled alike', () => {
    expect(withoutAliases.suggest('LITHIUM')[0]).toBe('LC');
    expect(withoutAliases.suggest('LITHIUM')).not.toContain('INDIUM');
    expect(withoutAliases.suggest('PALM-OIL')[0]).toBe('PO');
    expect(withoutAliases.suggest('PALM-OIL')).not.toContain('URAL-OIL');
  });

  test.each([
    ['GC=F', 'XAU'],
    ['CL=F', 'WTIOIL-FUT'],
    ['XAU/USD', 'XAU'],
    ['XAUUSD', 'XAU'],
    ['USDXAG', 'XAG'],
    ['GOLD_PRICE', 'XAU'],
  ])('find the ticker within %s: %s', (wrong, code) => {
    expect(search.suggest(wrong)[0]).toBe(code);
  });

  test('name a code with one typo before a code that is a part of it', () => {
    expect(search.suggest('WTIOIL-SPOTT')).toEqual(['WTIOIL-SPOT', 'WTIOIL-FUT']);
  });

  test.each([
    ['METALS', 'Metals'],
    ['LIVESTOCKS', 'Livestock'],
    ['AGRICULTURE', 'Agriculture'],
  ])('for %s are symbols of the category %s', (wrong, category) => {
    const found = search.suggest(wrong);
    expect(found).toHaveLength(5);
    for (const code of found) expect(symbols.find((one) => one.code === code)?.category).toBe(category);
  });

  test('prefer symbols with frequent prices, and active ones', () => {
    const oil = { category: 'Energy', updateInterval: 'minute', status: 'active' } as const;
    const three = new SymbolSearch(
      [
        { ...oil, code: 'A', name: 'Shale Oil', status: 'deprecated' },
        { ...oil, code: 'B', name: 'Shale Oil', updateInterval: 'month' },
        { ...oil, code: 'C', name: 'Shale Oil' },
      ],
      [],
    );
    expect(three.suggest('SHALE')).toEqual(['C', 'B', 'A']);
  });

  test('are known codes, none twice and at most five, for any text', () => {
    const known = new Set([...symbols.map(({ code }) => code), ...aliases.map(({ alias }) => alias)]);
    const anything = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.constantFrom(...known),
      fc.stringMatching(/^[A-Z_ /=-]{0,20}$/),
    );
    fc.assert(
      fc.property(anything, (text) => {
        const found = search.suggest(text);
        expect(found.length).toBeLessThanOrEqual(5);
        expect(new Set(found).size).toBe(found.length);
        for (const code of found) expect(known.has(code)).toBe(true);
      }),
    );
  });

  test.each(['', '☃', '___', 'QQQQQQQQQ'])('for %j there are none', (wrong) => {
    expect(search.suggest(wrong)).toEqual([]);
  });
});
