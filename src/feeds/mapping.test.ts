import { describe, expect, test } from 'bun:test';
import { pricesOf } from '../../test/support/responses/catalogue.ts';
import catalog from '../ledger/catalog/symbols.json' with { type: 'json' };
import { assignSymbols, ownershipOf } from './mapping.ts';
import type { ProvidedSeries } from './provider.ts';
import { PROVIDERS, providerOf } from './providers/index.ts';

const MONTHLY = ['world-bank', 'imf'];

/** What 1 of a published unit is in the symbol's own; only exact constants. */
function exactFactor({ published, currency, unit }: ProvidedSeries): number | undefined {
  if (!published) return 1;
  if (published.unit !== unit) return undefined;
  return published.currency === 'USX' && currency === 'USD' ? 0.01 : undefined;
}

describe.each(PROVIDERS.filter((one) => one.fills !== 'currencies').map((one) => [one.key, one] as const))(
  'the series of %s',
  (key, provider) => {
    test('are prices of symbols of the catalogue, in their unit and currency', () => {
      for (const series of provider.series) {
        const symbol = catalog.find((one) => one.code === series.symbol);
        const own = symbol && { currency: symbol.currency.code, unit: symbol.unit.symbol };
        expect({ id: series.id, ...own }).toEqual({
          id: series.id,
          currency: series.currency,
          unit: series.unit,
        });
        expect(series.factor ?? 1).toBe(exactFactor(series)!);
      }
    });

    test('are one per symbol and of its frequency: a monthly average is not a daily price', () => {
      expect(new Set(provider.series.map((one) => one.id)).size).toBe(provider.series.length);
      expect(new Set(provider.series.map((one) => one.symbol)).size).toBe(provider.series.length);
      for (const { id, symbol } of provider.series) {
        const monthly = MONTHLY.includes(key) || (key === 'fred' && id.endsWith('USDM'));
        expect([id, catalog.find((one) => one.code === symbol)!.updateInterval === 'month']).toEqual([
          id,
          monthly,
        ]);
      }
    });
  },
);

test('keys are unique, and feeds that may not be redistributed say so', () => {
  expect(new Set(PROVIDERS.map((one) => one.key)).size).toBe(PROVIDERS.length);
  const off = PROVIDERS.filter((one) => one.licence.redistribution === 'no').map((one) => one.key);
  expect(off.sort()).toEqual(['lbma', 'stooq', 'yahoo']);
  for (const { licence } of PROVIDERS) expect(licence.attribution).not.toBe('');
});

test('a symbol has one source at a time: the first enabled provider', () => {
  const all = assignSymbols(PROVIDERS);
  expect(all.get('WTIOIL-SPOT')!.provider.key).toBe('eia');
  expect(all.get('MAIZE')!.provider.key).toBe('world-bank');
  const withoutKey = assignSymbols(PROVIDERS.filter((one) => one.requiredSettings.length === 0));
  expect(withoutKey.get('WTIOIL-SPOT')!.provider.key).toBe('fred');
  expect(all.has('USD')).toBe(false);
});

test('prices are multiplied once and rounded once; a series without a symbol is skipped', () => {
  const yahoo = providerOf('yahoo')!;
  const bar = { day: 1, open: 7.25, high: 549.125, low: 0.1, close: 70.07 };
  expect(
    pricesOf(yahoo, {
      observations: [
        { series: 'ZW=F', ...bar },
        { series: 'AAPL', ...bar },
      ],
    }),
  ).toEqual([
    { symbol: 'ZW-FUT', date: '1970-01-02', open: 0.0725, high: 5.49125, low: 0.001, close: 0.7007 },
  ]);
});

describe('with some feeds enabled', () => {
  const owned = (key: string, ...on: string[]) => {
    const { series, elsewhere } = ownershipOf(providerOf(key)!, PROVIDERS, new Set(on));
    return { symbols: series.map((one) => one.symbol), elsewhere };
  };

  test('a symbol belongs to the first of them that has a series for it', () => {
    expect(owned('fred', 'fred').elsewhere.size).toBe(0);
    const fred = owned('fred', 'stooq', 'fred', 'eia');
    expect(fred.symbols).not.toContain('WTIOIL-SPOT');
    expect(fred.symbols).toContain('MAIZE');
    expect(fred.elsewhere.get('eia')).toContain('WTIOIL-SPOT');
    expect(owned('eia', 'stooq', 'fred', 'eia').elsewhere.size).toBe(0);
  });

  test('a disabled one fills what none of them fills', () => {
    const eia = owned('eia', 'fred');
    expect(eia.elsewhere.get('fred')).toContain('WTIOIL-SPOT');
    expect(eia.symbols).not.toContain('WTIOIL-SPOT');
    expect(owned('eia').symbols).toContain('WTIOIL-SPOT');
  });

  test('no symbol has two owners, whichever are enabled', () => {
    const on = ['stooq', 'yahoo', 'fred', 'imf', 'world-bank', 'eia', 'ecb'];
    const all = on.filter((key) => key !== 'ecb').flatMap((key) => owned(key, ...on).symbols);
    expect(new Set(all).size).toBe(all.length);
  });

  test('currencies have no other owner', () => {
    expect(owned('ecb', ...PROVIDERS.map((one) => one.key)).elsewhere.size).toBe(0);
  });
});
