import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { MarketSymbol } from '../api/answers.ts';
import { codeNamed, type Searchable, searchSymbols } from './match.ts';
import { optionsFor } from './options.ts';
import { typosBetween } from './typos.ts';

const CATALOGUE = join(import.meta.dir, '../../ledger/catalog');
const read = <T>(name: string) => Bun.file(join(CATALOGUE, name)).json() as Promise<T[]>;
const symbols = await read<MarketSymbol & { code: string }>('symbols.json');
const aliases = await read<{ alias: string; code: string }>('aliases.json');

describe('the search over the catalogue', () => {
  const market: Searchable = {
    symbols: symbols.map((symbol) => ({ ...symbol, symbol: symbol.code })),
    formulas: [],
    aliases: Object.fromEntries(aliases.map(({ alias, code }) => [alias, code])),
    isComplete: true,
  };
  const first = (text: string) => searchSymbols(market, text)[0]?.symbol;

  test.each([
    ['gold', 'XAU'],
    ['XAU', 'XAU'],
    ['silver', 'XAG'],
    ['GC', 'XAU'],
    ['cl', 'WTIOIL-FUT'],
    ['brent', 'BRENTOIL-SPOT'],
    ['wtioil-s', 'WTIOIL-SPOT'],
    ['glod', 'XAU'],
    ['sliver', 'XAG'],
    ['platnium', 'PL'],
    ['aluminum', 'AL-SPOT'],
    ['natural gas eu', 'NG-EU'],
  ])('%p finds %s first', (text, code) => {
    expect(first(text)).toBe(code);
  });

  test('every symbol is found by its code and by its name', () => {
    for (const { symbol, name } of market.symbols) {
      expect(first(symbol)).toBe(symbol);
      expect(
        searchSymbols(market, name).map((one) => one.symbol),
        name,
      ).toContain(symbol);
    }
  });

  test('every word must fit, nothing is found for nonsense, and without words everything is', () => {
    expect(searchSymbols(market, 'gold qqqq')).toEqual([]);
    expect(searchSymbols(market, 'qqqq')).toEqual([]);
    expect(searchSymbols(market, '  ')).toHaveLength(market.symbols.length);
  });

  test('what fits without a typo leaves no room for what fits with one', () => {
    for (const { name } of searchSymbols(market, 'copper')) expect(name).toContain('Copper');
  });

  test('a formula has symbols of one kind first, unless their codes say otherwise', () => {
    const formulas = (text: string) =>
      optionsFor(market, text, [])
        .filter(({ category }) => category === 'Formula')
        .map(({ symbol }) => symbol);
    expect(formulas('brent - wti')).toEqual([
      '{BRENTOIL-SPOT}-{WTIOIL-SPOT}',
      '{BRENTOIL-FUT}-{WTIOIL-FUT}',
      '{BRENTOIL-SPOT}-{WTIOIL-FUT}',
    ]);
    expect(formulas('wti/brent')[0]).toBe('{WTIOIL-FUT}/{BRENTOIL-FUT}');
    expect(formulas('BRENTOIL-SPOT-WTIOIL-FUT')).toEqual(['{BRENTOIL-SPOT}-{WTIOIL-FUT}']);
    expect(formulas('gold/silver')).toEqual(['{XAU}/{XAG}']);
    expect(formulas('brent -')).toEqual([]);
  });

  test('a text names a symbol by its code or another one for it', () => {
    expect(codeNamed(market, 'xau')).toBe('XAU');
    expect(codeNamed(market, 'gc')).toBe('XAU');
    expect(codeNamed(market, 'gol')).toBeUndefined();
  });
});

test('swapped, missing, added and wrong letters are one typo each', () => {
  for (const word of ['glod', 'god', 'goold', 'gald']) expect(typosBetween(word, 'gold', 2), word).toBe(1);
  expect(typosBetween('gold', 'gold', 2)).toBe(0);
  expect(typosBetween('lead', 'gold', 1)).toBe(2);
});
