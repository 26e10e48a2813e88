import { beforeAll, describe, expect, test } from 'bun:test';
import catalog from '../../ledger/catalog/symbols.json';
import { type Day, dayOf, printDay } from '../../market/day.ts';
import type { SymbolRecord } from '../../market/symbol.ts';
import { worldBank } from '../providers/world-bank.ts';
import { bundledProvider, EDITIONS } from '../sample/bundle.ts';
import { dayAt, FIRST_SIMULATED_DAY } from './calendar.ts';
import { factorOf } from './factors.ts';
import { calibrate, Levels, middleOfMonth } from './levels.ts';
import paths from './paths.json';
import { barsOf, walkOf } from './walk.ts';

const SYMBOLS = catalog as SymbolRecord[];
const LAST = dayOf(2026, 11, 13)!;
const bars = new Map<string, ReturnType<typeof barsOf>>();
const barsBy = (code: string) =>
  bars.getOrInsertComputed(code, () =>
    barsOf(walkOf(SYMBOLS.find((one) => one.code === code)!), FIRST_SIMULATED_DAY, LAST),
  );

/** The mean of the closes of each month. */
function monthsOf(code: string): Map<string, number> {
  const months = Map.groupBy(barsBy(code), ({ day }) => printDay(day).slice(0, 7));
  return new Map(
    [...months].map(([month, some]) => [
      month,
      some.reduce((sum, { close }) => sum + close, 0) / some.length,
    ]),
  );
}

/** Traded symbols, the World Bank's series, and how many of the symbol's unit and currency are one of the series'. */
const WELL_KNOWN: readonly [code: string, series: string, factor: number][] = [
  ['XAU', 'Gold', 1],
  ['GC-FUT', 'Gold', 1],
  ['XAG', 'Silver', 1],
  ['PL', 'Platinum', 1],
  ['HG-SPOT', 'Copper', 2204.62262],
  ['AL-SPOT', 'Aluminum', 1],
  ['NICKEL-FUT', 'Nickel', 1],
  ['ZINC', 'Zinc', 1],
  ['TIOC', 'Iron ore, cfr spot', 1],
  ['WTIOIL-FUT', 'Crude oil, WTI', 1],
  ['BRENTOIL-FUT', 'Crude oil, Brent', 1],
  ['NG-FUT', 'Natural gas, US', 1],
  ['COAL', 'Coal, Australian', 1],
  ['CORN', 'Maize', 0.393682611],
  ['ZW-FUT', 'Wheat, US SRW', 36.7437104],
  ['SOYBEAN-FUT', 'Soybeans', 0.367437104],
  ['ZL', 'Soybean oil', 22.0462262],
  ['CC', 'Cocoa', 0.001],
  ['CA', 'Coffee, Arabica', 2.20462262],
  ['CR', 'Coffee, Robusta', 0.001],
  ['LS11', 'Sugar, world', 2.20462262],
  ['CT', 'Cotton, A Index', 2.20462262],
];

test('calibrated levels with their noise have the mean of every month', () => {
  const noiseAt = (n: number) => 0.1 * Math.sin(n / 7);
  const nodes = Array.from({ length: 60 }, (_, month) => ({
    day: middleOfMonth(month),
    log: 4 + 0.3 * Math.cos(month / 5),
  }));
  const levels = new Levels(calibrate(nodes, noiseAt));
  const months = Map.groupBy(
    Array.from({ length: 1_200 }, (_, n) => ({ month: printDay(dayAt(n)).slice(0, 7), n })),
    ({ month }) => month,
  );
  for (const node of nodes.slice(1, 55)) {
    const days = months.get(printDay(node.day).slice(0, 7))!;
    const mean = days.reduce((sum, { n }) => sum + levels.at(dayAt(n)) + noiseAt(n), 0) / days.length;
    expect(mean, printDay(node.day)).toBeCloseTo(node.log, 3);
  }
});

test('electricity follows gas: a spark spread is positive, and no wider than the cost of the gas', () => {
  const [power, gas] = [monthsOf('PJM-POWER'), monthsOf('NG-FUT')];
  expect(power.size).toBe(gas.size);
  for (const [month, price] of power) {
    const fuel = 7 * gas.get(month)!;
    expect(price - fuel, month).toBeGreaterThan(0);
    expect(price - fuel, month).toBeLessThan(2 * fuel);
  }
});

describe('simulated prices and those of the World Bank', () => {
  const real = new Map<string, Map<string, number>>();
  beforeAll(async () => {
    const edition = EDITIONS.find(({ provider }) => provider === 'world-bank')!;
    const { provider, archive } = bundledProvider(worldBank, edition);
    const [request] = provider.requests({});
    for (const { series, day, close } of provider.parse(await archive.read(request!), request!).observations)
      real.getOrInsertComputed(series, () => new Map()).set(printDay(day).slice(0, 7), close);
  });

  test.each(WELL_KNOWN)('%s is within 10 %% of %s in every month', (code, series, factor) => {
    const levels = real.get(series)!;
    const off = [...monthsOf(code)]
      .filter(([month]) => levels.has(month))
      .map(([month, mean]) => [month, (mean * factor) / levels.get(month)! - 1] as const);
    expect(off.length).toBeGreaterThanOrEqual(130);
    for (const [month, by] of off) expect(Math.abs(by), month).toBeLessThan(0.1);
  });

  test('palm oil in ringgit is within 10 % of the World Bank’s dollars at the real exchange rate of May 2024', () => {
    const ringgitPerDollar = 4.72;
    const dollars = monthsOf('PO').get('2024-05')! / ringgitPerDollar;
    expect(Math.abs(dollars / real.get('Palm oil')!.get('2024-05')! - 1)).toBeLessThan(0.1);
  });

  test('after the end of the bundle prices stay near their last level', () => {
    for (const [code] of WELL_KNOWN) {
      const months = monthsOf(code);
      expect(Math.abs(Math.log(months.get('2026-06')! / months.get('2026-05')!)), code).toBeLessThan(0.35);
      expect(Math.abs(Math.log(months.get('2026-11')! / months.get('2026-05')!)), code).toBeLessThan(0.6);
    }
  });
});

test('prices of one commodity differ by its markets’ usual distance, give or take 2 %', () => {
  const byFactor = Map.groupBy(Object.entries(paths), ([, { factor }]) => factor);
  for (const [name, members] of byFactor) {
    const factor = factorOf(name);
    for (const [code, spec] of members) {
      const symbol = SYMBOLS.find((one) => one.code === code)!;
      if (symbol.updateInterval === 'month' || symbol.updateInterval === 'week') continue;
      const walk = walkOf(symbol);
      if (walk.into || walk.from) continue; // the exchange rate moves, too
      const times = 'times' in spec ? spec.times : 1;
      const all = barsBy(code);
      for (let n = 0; n < all.length; n += 97) {
        const price = (all[n]!.close / walk.ratio) * times;
        const rounding = 0.5 / 10 ** symbol.decimals / all[n]!.close;
        expect(Math.abs(Math.log(price / Math.exp(factor.at(n)) / times)), code).toBeLessThan(
          0.02 + rounding,
        );
      }
    }
  }
});

describe('daily returns', () => {
  const returnsOf = (code: string): Map<Day, number> => {
    const all = barsBy(code);
    return new Map(all.slice(1).map(({ day, close }, i) => [day, Math.log(close / all[i]!.close)]));
  };
  const correlation = (one: string, other: string): number => {
    const [a, b] = [returnsOf(one), returnsOf(other)];
    const pairs = [...a].map(([day, value]) => [value, b.get(day)!] as const);
    const mean = (i: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[i], 0) / pairs.length;
    const [ma, mb] = [mean(0), mean(1)];
    const sum = (of: (x: number, y: number) => number) =>
      pairs.reduce((total, [x, y]) => total + of(x - ma, y - mb), 0);
    return sum((x, y) => x * y) / Math.sqrt(sum((x) => x * x) * sum((_, y) => y * y));
  };

  test.each([
    ['WTIOIL-SPOT', 'WTIOIL-FUT', 0.97, 1],
    ['HG-SPOT', 'HG-FUT', 0.97, 1],
    ['XAU', 'GC-FUT', 0.95, 1],
    ['WTIOIL-SPOT', 'BRENTOIL-SPOT', 0.7, 0.9],
    ['XAU', 'XAG', 0.6, 0.9],
    ['CORN', 'ZW-FUT', 0.45, 0.75],
    ['RB-FUT', 'BRENTOIL-FUT', 0.8, 0.97],
    ['XAU', 'LHOGS', -0.1, 0.1],
  ])('of %s and %s correlate', (one, other, least, most) => {
    const found = correlation(one, other);
    expect(found).toBeGreaterThan(least);
    expect(found).toBeLessThan(most);
  });
});
