import { describe, expect, test } from 'bun:test';
import catalog from '../ledger/catalog/symbols.json';
import { converted, isOne, times } from './ratio.ts';
import type { SymbolRecord } from './symbol.ts';
import { unitFactor, unitNamed, unitsFor } from './unit.ts';

const symbols = catalog as SymbolRecord[];
const symbol = (code: string) => symbols.find((one) => one.code === code)!;
const made = (name: string, unit: string) => ({ name, unit: { symbol: unit, name: unit } });

describe('units', () => {
  const PRICES: [code: string, price: number, unit: string, expected: number][] = [
    ['XAU', 2358.2, 'kg', 75817.891], // 31.1034768 g
    ['XAU', 2358.2, 'gram', 75.817891],
    ['HG-SPOT', 4.5, 'tonne', 9920.8018],
    ['AL-SPOT', 2500, 'lb', 1.1339809],
    ['ZM', 370, 'MT', 407.85519],
    ['CORN', 467.25, 'MT', 18394.82], // 56 lb
    ['ZW-FUT', 6.5, 'tonne', 238.83412], // 60 lb
    ['SOYBEAN-FUT', 1200, 'kg', 44.092452],
    ['OAT-SPOT', 3.5, 'kg', 0.2411306], // 32 lb
    ['MAIZE', 200, 'bushel', 5.0802345],
    ['NBLC1', 200, 'bu', 4.3544868], // barley, 48 lb
    ['CANOLA', 500, 'bu', 11.339809], // 50 lb
    ['WTIOIL-FUT', 78.5, 'litre', 0.49375015],
    ['WTIOIL-FUT', 78.5, 'gal', 1.8690476],
    ['RB-FUT', 2.5, 'Barrel', 105],
    ['NG-FUT', 2.5, 'MWh', 8.5303541],
    ['UK-GAS', 0.75, 'mmbtu', 7.5],
    ['TTF-GAS', 30, 'MMBtu', 8.7921321],
    ['EGGS-US', 3, 'piece', 0.25],
    ['LB-FUT', 550, 'm3', 233.0768],
    ['RR-FUT', 18, 'lb', 0.18],
    ['LGO', 700, '100 MT', 70_000],
    ['EGGS-CH', 3500, 'kg', 7],
    ['POTATO', 25, 'MT', 250],
  ];
  for (const [code, price, unit, expected] of PRICES) {
    test(`${code} at ${price} per ${symbol(code).unit.symbol} is ${expected} per ${unit}`, () => {
      expect(converted(price, unitFactor(symbol(code), unitNamed(unit)!)!)).toBe(expected);
    });
  }

  test('every unit of the catalogue is known, and fits itself', () => {
    for (const one of symbols) {
      expect(unitNamed(one.unit.symbol), one.code).toBe(one.unit.symbol);
      expect(unitNamed(one.unit.name), one.code).toBe(one.unit.symbol);
      expect(isOne(unitFactor(one, one.unit.symbol)!)).toBe(true);
      expect(unitsFor(one)[0]).toBe(one.unit.symbol);
    }
  });

  test('there and back is exactly one, for every pair that fits', () => {
    for (const one of symbols) {
      for (const unit of unitsFor(one)) {
        const there = unitFactor(one, unit)!;
        const back = unitFactor({ ...one, unit: { symbol: unit, name: unit } }, one.unit.symbol)!;
        expect(isOne(times(there, back)), `${one.code} ${unit}`).toBe(true);
      }
    }
  });

  test('spellings do not depend on case, blanks, dots and dashes', () => {
    for (const text of ['T.oz', 't.oz', 'TOZ', 'oz', 'troy ounce', 'Troy-Ounce', ' troy oz ']) {
      expect(unitNamed(text), text).toBe('T.oz');
    }
    expect(unitNamed('100 mt')).toBe('100 MT');
    expect(unitNamed('m³')).toBe('m3');
    for (const text of ['', 'stone', 'constructor', '__proto__', 'kg/m3']) {
      expect(unitNamed(text), text).toBeUndefined();
    }
  });

  test('units of other goods and sizes of contracts are not offered, but convert', () => {
    expect(unitsFor(symbol('LB-FUT'))).toEqual(['MBF', 'm3']);
    expect(unitsFor(symbol('EGGS-US'))).toEqual(['Doz', 'Pc']);
    expect(unitsFor(symbol('XAU'))).toEqual(['T.oz', 'Kg', 'g', 'MT', 'Lb', 'Cwt', 'ST', 'LT']);
    expect(unitsFor(symbol('EGGS-CH')).slice(0, 2)).toEqual(['500 Kg', 'Kg']);
    expect(unitFactor(symbol('WTIOIL-FUT'), 'MBF')).toBeDefined();
  });

  test('what needs a density or a crop is refused', () => {
    expect(unitFactor(symbol('WTIOIL-FUT'), 'MT')).toBeUndefined();
    expect(unitFactor(symbol('XAU'), 'Bbl')).toBeUndefined();
    expect(unitFactor(symbol('NG-FUT'), 'm3')).toBeUndefined();
    expect(unitFactor(symbol('XAU'), 'Bu')).toBeUndefined();
    expect(unitFactor(symbol('ZL'), 'Bu')).toBeUndefined(); // soybean oil
    expect(unitFactor(symbol('ZM'), 'Bu')).toBeUndefined(); // soybean meal
    expect(unitFactor(made('Mystery Grain', 'Bu'), 'Kg')).toBeUndefined();
    expect(unitsFor(made('Mystery Grain', 'Bu'))).toEqual(['Bu']);
    expect(unitsFor(symbol('WTIOIL-FUT'))).toEqual(['Bbl', 'L', 'Gal', 'm3']);
  });

  test('a Canadian bushel of oats has 34 pounds', () => {
    expect(converted(34, unitFactor(made('Oats, Canada', 'Bu'), 'Lb')!)).toBe(1);
  });

  test('a unit that an operator has made up fits itself alone', () => {
    expect(unitsFor(made('Flasks of Mercury', 'Flask'))).toEqual(['Flask']);
    expect(isOne(unitFactor(made('Flasks of Mercury', 'Flask'), 'Flask')!)).toBe(true);
  });
});
