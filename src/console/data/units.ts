import { useMemo } from 'preact/hooks';
import type { MarketSymbol } from '../api/answers.ts';
import { askOnce } from '../api/client.ts';
import { useLoad } from '../api/load.ts';
import { codesIn, isFormula } from './formula.ts';

/** A unit for a price, and the factor from the published unit. */
export interface Unit {
  unit: string;
  factor: number;
}

/** Significant digits of converted prices, as in the service. */
const DIGITS = 8;

const NAMES: Readonly<Record<string, string>> = {
  Kg: 'kilogram',
  g: 'gram',
  MT: 'metric ton',
  DMT: 'dry metric ton',
  '100 MT': '100 metric tons',
  '500 Kg': '500 kilograms',
  '100 Kg': '100 kilograms',
  MTU: 'metric ton unit',
  Lb: 'pound',
  'T.oz': 'troy ounce',
  Cwt: 'hundredweight',
  ST: 'short ton',
  LT: 'long ton',
  Bu: 'bushel',
  L: 'litre',
  Gal: 'US gallon',
  Bbl: 'barrel',
  m3: 'cubic metre',
  MBF: '1,000 board feet',
  GJ: 'gigajoule',
  MWh: 'megawatt hour',
  kWh: 'kilowatt hour',
  MMBtu: 'million Btu',
  Thm: 'therm',
  Doz: 'dozen',
  Pc: 'piece',
  Sheet: 'sheet',
  Day: 'day',
};

/** The name of a unit, if it has one. */
export function nameOfUnit(unit: string): string {
  return NAMES[unit] ?? unit;
}

/** What the prices of a symbol can be converted to. */
export interface Measures {
  /** Its own first. */
  units: readonly Unit[];
  /** Sorted by code. */
  currencies: readonly string[];
}

interface UnitsAnswer {
  units: Record<string, Unit[]>;
  currencies: Record<string, string[]>;
}

/** A formula without a name has its own currency and unit only until the service has answered. */
export function useMeasures(key: string, { symbol, unit, currency }: MarketSymbol): Measures {
  const loaded = useLoad(async () => {
    const code = codesIn(symbol)[0]!;
    const { units, currencies } = await askOnce<UnitsAnswer>(
      key,
      `/units?${new URLSearchParams({ symbols: code })}`,
    );
    return { units: units[code] ?? [], currencies: currencies[code] ?? [] };
  }, [key, symbol]);
  return useMemo(() => {
    const own = { unit: unit.symbol, factor: 1 };
    const units = isFormula(symbol) ? [] : (loaded.data?.units ?? []).slice(1);
    return { units: [own, ...units], currencies: loaded.data?.currencies ?? [currency.code] };
  }, [loaded.data, symbol]);
}

/** A price times a factor, rounded as the service does it. */
export function roundConverted(value: number, factor: number): number {
  return factor === 1 ? value : Number((value * factor).toPrecision(DIGITS));
}
