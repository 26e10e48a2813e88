import { describe, expect, test } from 'bun:test';
import { MARKETS } from '../../market/session.ts';
import { CODE_PATTERN, LOOK_BACK_DAYS } from '../../market/symbol.ts';
import aliases from '../catalog/aliases.json';
import symbols from '../catalog/symbols.json';

const codes = new Set(symbols.map(({ code }) => code));

describe('the catalogue', () => {
  test('has 198 symbols, each once', () => {
    expect(symbols).toHaveLength(198);
    expect(codes.size).toBe(198);
  });

  test('is complete for every symbol', () => {
    for (const { code, name, category, currency, unit, ...rest } of symbols) {
      expect(code).toMatch(CODE_PATTERN);
      const texts = [name, category, currency.code, currency.name, currency.symbol, unit.symbol, unit.name];
      for (const text of texts) expect(text, code).toMatch(/^\S(.*\S)?$/);
      expect(currency.code, code).toMatch(/^[A-Z]{3}$/);
      expect(Object.keys(MARKETS), code).toContain(rest.market);
      expect(Object.keys(LOOK_BACK_DAYS), code).toContain(rest.updateInterval);
      expect(['active', 'deprecated'], code).toContain(rest.status);
      expect([0, 1, 2, 3, 4, 5, 6], code).toContain(rest.decimals);
    }
  });

  test('says US Cent for what is quoted in cents, and only for that', () => {
    const inCents = symbols.filter(({ currency }) => currency.code === 'USX');
    expect(inCents.map(({ code }) => code).sort()).toEqual([
      'CORN',
      'HIDES',
      'KE',
      'MWE',
      'PLYWOOD',
      'RUBBER',
      'SOYBEAN-FUT',
      'SOYBEAN-SPOT',
      'ZL',
    ]);
    for (const { currency } of inCents)
      expect(currency).toEqual({ code: 'USX', name: 'US Cent', symbol: '¢' });
  });

  test('names and signs each currency in one way', () => {
    const byCode = Map.groupBy(symbols, ({ currency }) => currency.code);
    expect([...byCode.keys()].sort()).toEqual(['CAD', 'CNY', 'EUR', 'GBP', 'MYR', 'USD', 'USX']);
    for (const ofCode of byCode.values()) {
      expect(new Set(ofCode.map(({ currency }) => JSON.stringify(currency))).size).toBe(1);
    }
  });

  test('names each unit in one way', () => {
    const byUnit = Map.groupBy(symbols, ({ unit }) => unit.symbol);
    for (const ofUnit of byUnit.values()) expect(new Set(ofUnit.map(({ unit }) => unit.name)).size).toBe(1);
  });
});

describe('the aliases', () => {
  test('stand for symbols, and are not symbols themselves', () => {
    for (const { alias, code, kind } of aliases) {
      expect(codes.has(code), alias).toBe(true);
      expect(codes.has(alias), alias).toBe(false);
      expect(alias).toBe(alias.trim().toUpperCase());
      expect(['legacy', 'guess'], alias).toContain(kind);
    }
  });

  test('of one commodity stand for one symbol, so that BRENT and BRENTOIL agree', () => {
    const names = new Map(symbols.map(({ code, name }) => [code, name.replace(/ (Spot|Futures)$/, '')]));
    const byCommodity = Map.groupBy(aliases, ({ code }) => names.get(code));
    for (const [commodity, ofCommodity] of byCommodity) {
      expect([...new Set(ofCommodity.map(({ code }) => code))], commodity).toHaveLength(1);
    }
  });

  test('cover the names and exchange roots that people use where they are unambiguous', () => {
    const known = new Set([...codes, ...aliases.map(({ alias }) => alias)]);
    const names = 'PLATINUM PALLADIUM LITHIUM ALUMINUM URANIUM NATURAL_GAS PALM-OIL OATS';
    const roots = 'GC SI HG CL NG ZC ZS ZW KC SB CT CC LE HE';
    for (const code of `${names} ${roots}`.split(' ')) expect(known.has(code), code).toBe(true);
    for (const code of ['IRON', 'CRUDE_OIL']) expect(known.has(code), code).toBe(false);
  });

  test('are each there once', () => {
    expect(new Set(aliases.map(({ alias }) => alias)).size).toBe(aliases.length);
  });
});

test('every market is in a zone that Intl knows, and opens and closes at a time of day', () => {
  for (const { zone, opensAt, closesAt } of Object.values(MARKETS)) {
    expect(new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone).toBeString();
    for (const time of [opensAt, closesAt]) expect(time).toMatch(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/);
  }
});
