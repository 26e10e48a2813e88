import { useMemo } from 'preact/hooks';
import type { MarketSymbol, Rate } from '../api/answers.ts';
import { askOnce } from '../api/client.ts';
import { useLoad } from '../api/load.ts';

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

/** The units that fit a symbol, its own first. */
export function useUnits(key: string, { symbol, unit }: MarketSymbol): readonly Unit[] {
  const loaded = useLoad(async () => {
    const path = `/units?${new URLSearchParams({ symbols: symbol })}`;
    return (await askOnce<{ units: Record<string, Unit[]> }>(key, path)).units[symbol] ?? [];
  }, [key, symbol]);
  return useMemo(() => {
    const others = (loaded.data ?? []).slice(1);
    return [{ unit: unit.symbol, factor: 1 }, ...others];
  }, [loaded.data, unit.symbol]);
}

export function inUnit(value: number, { factor }: Unit): number {
  return factor === 1 ? value : Number((value * factor).toPrecision(DIGITS));
}

/** A rate per another unit. */
export function useRateIn(rate: Rate | undefined, unit: Unit): Rate | undefined {
  return useMemo(
    () => rate && { ...rate, rate: inUnit(rate.rate, unit), unit: unit.unit },
    [rate, unit.unit, unit.factor],
  );
}
